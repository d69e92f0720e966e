-- One row per judgment and metric, without the reasoning, of the judgments that are current.
-- condition is the newest name of the condition; after an edited prompt, `where current` leaves out the condition
-- that had the name before.
select
    c.condition, j.condition_id, j.agent_id, c.current,
    j.sample_id, j.repetition, j.replicate,
    j.judge.name as judge, j.judge_id, j.response_id, j.id as judgment_id,
    j.metric, j.given.score as score, j.given.min as min, j.given.max as max, j.given.passed as passed,
    j.position, j.mock
from (
    select
        * exclude (scores),
        unnest(map_keys(scores)) as metric,
        unnest(map_values(scores)) as given
    from judgment_facts
    where current
) as j
join conditions as c using (condition_id, agent_id)
