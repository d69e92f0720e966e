-- One row per chosen line, with its position.
select * exclude (line_offset) from part.chosen
