-- One row per line that tells of the samples that new lines are about, or of runs: of the stored lines, then of the new ones.
select place + 1 as position, o.line_offset, s.* exclude (place)
from chosen_stored as s
join stored.line_offsets as o on o.rowid = s.place
union all by name
select n.position + (select count(*) from stored.lines) as position, n.line_offset, l.*
from rest.lines as l
positional join rest.line_offsets as n
order by position
