-- One row per judgment, response and failure after a position, in their order: its position, type, id and run, and of whose
-- response and by which judge it is; the agent's own have no judge.
select position, type, id, run_id, response_id, judge_id
from events
where type in ('judgment', 'response', 'failure') and position > $position
order by position
