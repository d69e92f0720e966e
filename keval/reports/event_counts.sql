-- One row: how many events of each type count, and of when the first and the last one are.
with event as (
    select 'run' as type, time from runs
    union all select 'response', time from response_facts
    union all select 'judgment', time from judgment_facts
    union all select 'failure', time from failure_facts
)
select
    min(time) as first_time, max(time) as last_time,
    count(*) filter (type = 'run') as runs, count(*) filter (type = 'response') as responses,
    count(*) filter (type = 'judgment') as judgments, count(*) filter (type = 'failure') as failures
from event
