-- One row per line that says what is to be done, or what changed, of those from a position on: where it is.
select position, line_offset
from lines
positional join line_offsets
where type in ('run', 'plan', 'sample_change', 'until_rule', 'until_end') and position > $before
order by position
