-- One row per condition and agent of which a mock made an event that counts, or of which all costs of a stage are a mock's.
-- Not of `current_lines`: what DuckDB guesses of their number makes it put all of them into memory, to find these few.
select distinct condition_id, agent_id
from events
where type in ('response', 'judgment', 'failure')
    and position in (select position from standing where mock and counts and current)
union
select condition_id, agent_id from cost_sums where mock
