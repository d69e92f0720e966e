-- One row per chosen line, in order.
select * exclude (position, line_offset) from part.chosen order by position
