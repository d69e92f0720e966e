-- One row per line that tells of the samples that new lines are about, or of runs: of the stored lines, and of the new ones.
select place + 1 as position, line_offset, s.*
from chosen_places
join stored.lines as s on s.rowid = place
union all by name
select n.position + (select count(*) from stored.lines) as position, n.line_offset, l.*
from rest.lines as l
positional join rest.line_offsets as n
