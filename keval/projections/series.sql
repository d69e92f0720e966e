-- One row per condition, agent, judge and metric for which there is, or is to be, a number.
-- A judge concerns the conditions that it scored or failed to score, and those of the runs that name it; a judge
-- that was run by itself, over whatever the log held, concerns all. A computed metric concerns those that all of its parts do.
with pairs as (
    select condition_id, agent_id, judge_id from mentions where current and judge_id is not null
    union
    select condition.condition_id, agent.agent_id, judge.judge_id
    from (
        select agent, unnest(map_values(conditions)) as condition, judges from run_facts
    ), unnest(judges) as judging(judge)
    where (condition.condition_id, judge.judge_id) not in (select (condition_id, judge_id) from judges_of_earlier_imports)
    union
    select c.condition_id, c.agent_id, m.judge_id
    from conditions as c, metrics as m
    where m.computed is null and m.judge_id not in (
        select judge.judge_id from run_facts, unnest(judges) as judging(judge) where has_config
    )
),
judged as (
    select condition_id, agent_id, judge_id, metric
    from pairs
    semi join conditions using (condition_id, agent_id)
    join metrics using (judge_id)
)
from judged
union all
select j.condition_id, j.agent_id, p.judge_id, p.metric
from judged as j
join computed_parts as p on p.of_judge_id = j.judge_id and p.of_metric = j.metric
join computed_metrics as m on m.judge_id = p.judge_id and m.metric = p.metric
group by j.condition_id, j.agent_id, p.judge_id, p.metric
having count(*) = any_value(len(m.parts))
