-- One row per current condition and agent of which a mock made an event that counts, or all costs of a stage.
-- Not of `current_lines`: what DuckDB guesses of their number makes it put all of them into memory, to find these few.
from (select condition_id, agent_id from conditions where current)
semi join (
    select condition_id, agent_id
    from events
    where type in ('response', 'judgment', 'failure')
        and position in (select position from standing where mock and counts and current)
    union
    select condition_id, agent_id from cost_sums where mock
) using (condition_id, agent_id)
