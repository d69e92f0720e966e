-- One row per judge that asks no model.
select judge_id
from (
    select judge_id, judge.model as model from judgment_facts
    union all select judge.judge_id, judge.model from (select unnest(judges) as judge from runs)
)
group by judge_id having count(model) = 0
