-- One row per event of a type about a task of the config: the task's number, and the position of the event. What the mock
-- made is none to a real run.
select
    $number as number,
    e.position, e.response_id, e.kind, c.retries_gates
from facts as e
join config_samples as s using (question_id)
join own_conditions as c using (condition_id)
where e.type = $type and e.agent_id = $agent_id and e.repetition between 1 and $repetitions and ($mock or not e.mock)
