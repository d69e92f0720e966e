-- One row per judge whose scores count, as its last judgment describes it.
select judge.name as name, judge.type as type, judge.model as model, judge_id
from (
    select judge_id, arg_max(judge, position) as judge
    from judgment_facts where current group by judge_id
)
order by name, judge_id
