-- One row per judge whose scores count, as its last judgment describes it; models: all that it asks, none for a program.
with described as (
    select judge.judge_id as judge_id, max(judge.models) as models
    from (select unnest(judges) as judge from run_facts)
    group by judge.judge_id
)
select
    judge.name as name, judge.type as type, judge.model as model, judge_id,
    coalesce(models, if(judge.model is null, [], [judge.model])) as models
from (
    select judge_id, arg_max(judge, position) as judge
    from current_lines
    where type = 'judgment'
    group by judge_id
)
left join described using (judge_id)
order by name, judge_id
