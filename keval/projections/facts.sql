-- One row per event that counts, with what becomes of it; line_offset is the byte of its file at which its line begins.
-- `lines`, `line_offsets` and `standing` have a row for each line, in the same order.
select
    line_offsets.position, line_offsets.line_offset, lines.* exclude (mock), standing.* exclude (position, counts)
from lines
positional join line_offsets
positional join standing
where standing.counts
