-- One row per chosen line that says what is to be done, or what changed.
select * from stored.declarations where position in (select position from part.chosen)
union all by name
select * replace (position + (select count(*) from stored.lines) as position) from rest.declarations
