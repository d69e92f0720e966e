-- One row per judge that a log describes: whether it asks no model.
select judge_id, count(model) = 0 as asks_none
from (
    select judge_id, max(judge.model) as model from events where type = 'judgment' group by judge_id
    union all select judge.judge_id, judge.model from (select unnest(judges) as judge from run_facts)
)
group by judge_id
