-- One row per set of samples, which is the log: whether any has something where the path leads.
select exists (select 1 from samples where (sample -> $path) is not null) as found
