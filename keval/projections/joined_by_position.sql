-- One row per row of a stored table about lines that were not chosen, and of what was computed for those that were.
select * from stored.$name where position not in (select position from part.chosen)
union all by name
select * from part.$name
