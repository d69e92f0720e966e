-- One row: how many events of each type count, and of when the first and the last one are.
with counted as (
    select type, min(time) as first_time, max(time) as last_time, count(*) as count
    from events
    where position not in (select position from standing where not counts)
    group by type
)
select
    -- Filtered after grouping: few rows, not millions of names.
    min(first_time) filter (type in ('run', 'response', 'judgment', 'failure')) as first_time,
    max(last_time) filter (type in ('run', 'response', 'judgment', 'failure')) as last_time,
    coalesce(sum(count) filter (type = 'run'), 0)::bigint as runs,
    coalesce(sum(count) filter (type = 'response'), 0)::bigint as responses,
    coalesce(sum(count) filter (type = 'judgment'), 0)::bigint as judgments,
    coalesce(sum(count) filter (type = 'failure'), 0)::bigint as failures
from counted
