-- One row per log that was given, by the name that it was given by, - for stdin: how many events it holds and of when.
-- A log that was given twice is one row.
select
    log, count(type) as events, min(time) as first_time, max(time) as last_time
from events
join (select log, min(file) as file from files group by log) using (file)
group by log
order by min(position)
