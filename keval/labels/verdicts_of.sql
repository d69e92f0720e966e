-- One row per verdict about a response that has labels.
select response_id, judge_id, metric, condition_id, agent_id, series, passed, threshold, "by"
from ($strata)
where response_id in ($ids)
