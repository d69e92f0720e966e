-- One row per line that says again what an earlier line says.
select * from stored.repeated
union
select * from part.repeated
