-- One row per set of samples, which is the log: how many of them lack a field by which groups are to be made, or have null there.
select count(*) as count from samples where $by is null
