-- One row per tool call of a current response; turn is its place among the response's turns, from 1.
-- A call that was never answered is an error without a result.
select
    log, run_id, response_id, sample_id, condition, condition_id, agent_id, repetition,
    place as turn, turn.id as tool_call_id, turn.name as name, turn.server as server, turn.input as input,
    turn.result as result, turn.error as error, turn.duration_ms as duration_ms
from (
    select
        r.log, r.run_id, r.id as response_id, r.sample_id, c.condition, r.condition_id, r.agent_id, r.repetition,
        unnest(r.turns) as turn, generate_subscripts(r.turns, 1) as place
    from responses as r
    join conditions as c using (condition_id, agent_id)
    where r.current
) as called
where called.turn.type = 'tool_call'
