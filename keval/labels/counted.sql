-- One row per stratum with how many verdicts it has, in the order of the report.
select condition, condition_id, agent_id, judge, judge_id, metric, series, passed, "by", count(*) as verdicts
from ($strata)
group by all
order by min(position), series, "by", passed
