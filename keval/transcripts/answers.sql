-- One row per task that ended in an answer or a failure: the line that says so. response_id is what its judgments refer to.
-- Of an answer that the log lacks it is the first judgment. asks_anew: it failed, and brings the record that it was asked,
-- which may be newer than what was ever answered. place: current conditions are in the order of the config.
-- fits: what the id of the sample has to be.
select
    t.position, t.file, t.line_offset, t.type, t.id, t.response_id, t.sample_id, t.condition_id, t.agent_id, t.repetition, t.current, t.asks_anew,
    c.condition, c.place
from (
    select
        position, file, line_offset, type, id, coalesce(response_id, id) as response_id,
        sample_id, condition_id, agent_id, repetition, current,
        type = 'failure' and has_sample as asks_anew
    from $facts
    where type = 'response' or (type = 'failure' and stage = 'generate')
    union all
    select position, file, line_offset, 'judgment', id, response_id, sample_id, condition_id, agent_id, repetition, current, false
    from $judgments
    where not has_response and position = answer
) as t
join conditions as c using (condition_id, agent_id)
where $fits
