-- One row per judgment, response and failure after a position, in their order: its position, type, id and run, and of whose
-- response and by which judge it is; the agent's own have no judge. What a mock made is none of a batch's results, and neither
-- is a line that says again what an earlier one says, as a retraction of a later run makes it count once more.
select position, type, id, run_id, response_id, judge_id
from paid
where position > $position and not mock
order by position
