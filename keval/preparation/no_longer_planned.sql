-- One row: how many responses that count by a config's newest run are in its plan no more, and why: of how many samples, of how
-- many repetitions, and under which conditions, by name. What the plan of another config has still counts.
with elsewhere as (
    select p.condition_id, q.question_id, max(p.repetitions) as repetitions
    from planned_conditions as p
    join (select plan_id, unnest(question_ids) as question_id from declarations where parts is not null) as q using (plan_id)
    where p.agent_id = $agent_id and p.config_name <> $config_name
    group by p.condition_id, q.question_id
)
select
    count(*) as responses,
    count(distinct sample_id) filter (sample_id not in (select sample_id from config_samples)) as samples,
    count(distinct repetition) filter (repetition > $repetitions) as repetitions,
    coalesce(list(distinct condition order by condition) filter (condition_id in ($gone_ids)), []) as conditions
from facts as f
anti join elsewhere as e
    on e.condition_id = f.condition_id and e.question_id = f.question_id and f.repetition <= e.repetitions
where type = 'response' and current and agent_id = $agent_id and condition_id in ($condition_ids) and mock = $mock
    and (
        condition_id in ($gone_ids) or repetition > $repetitions
        or sample_id not in (select sample_id from config_samples)
    )
