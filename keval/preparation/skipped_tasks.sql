-- One row: which tasks of a config are not to be done, as a string of 0 and 1 with a place for each, and how many of
-- those have failed. A task's failure counts until the task has a response, and not again if that is retracted.
with failure as (
    select * from ($failed_tasks)
),
response as (
    select e.id, e.position, e.position in (select position from facts where type = 'response') as counts
    from events as e
    semi join failure on failure.response_id = e.id
    where e.type = 'response' and ($mock or not coalesce(e.mock, false))
),
failed as (
    select number, arg_max(kind, position) as kind, any_value(retries_gates) as retries_gates
    from failure as f
    anti join response as r on r.id = f.response_id and (r.counts or r.position > f.position)
    group by number
),
skipped as (
    select number, false as failed from answered_tasks
    union all
    select number, true as failed from failed
    where not $retry_failed or (kind in ($gates) and not retries_gates)
)
select bitstring_agg(number, 0, $tasks - 1)::varchar as skipped, count(*) filter (failed) as failed
from skipped
having count(*) > 0
