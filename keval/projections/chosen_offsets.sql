-- One row per chosen line, in order: its position, and where it begins.
select position, line_offset from part.chosen order by position
