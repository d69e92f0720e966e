-- One row per set of samples, which is the log: how many of them are in no group, because they lack a field by which groups are to
-- be made, or have null or an empty list there.
select count(*) as count from samples where len($by) = 0
