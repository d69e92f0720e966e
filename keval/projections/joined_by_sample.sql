-- One row per row of a stored table about samples that no new line is about, and of what was computed for the others.
select * from stored.$name where sample_id not in (from touched)
union all by name
select * from part.$name
