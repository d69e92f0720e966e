-- One row per judgment, response and failure after a position, in their order: its position and its id. What a mock made is none of
-- a batch's results, and neither is a line that says again what an earlier one says, as a retraction of a later run makes it
-- count once more.
select position, id
from paid
where position > $position and not mock
order by position
