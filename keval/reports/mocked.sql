-- One row per condition and agent of which a mock made an event that counts.
select distinct condition_id, agent_id
from current_lines
where position in (select position from line_standings where mock)
