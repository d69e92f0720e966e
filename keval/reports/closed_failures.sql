-- One row if some failure of a judge is not open any more.
select true as found
from events
where type = 'failure' and stage = 'judge' and position in (select position from standing where counts and not current)
limit 1
