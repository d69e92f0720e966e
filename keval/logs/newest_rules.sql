-- One row per event that says by which rule runs are to stop: where its line begins, the last one first.
select line_offset
from facts
where type = 'until_rule'
order by position desc
