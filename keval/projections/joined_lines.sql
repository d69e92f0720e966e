-- One row per line: the stored ones, then the new ones.
select * from stored.$name
union all by name
select * from part.$name where position > (select count(*) from stored.lines)
