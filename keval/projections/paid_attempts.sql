-- One row per attempt that may have cost something: the last one of an event, and those before it, which failed.
select * exclude (failed_attempts), false as failed
from paid
union all
select * exclude (failed_attempts, failed_attempt) replace (
        failed_attempt.cost_usd as cost_usd, failed_attempt.usage as usage
    ), true
from (
    select *, unnest(failed_attempts) as failed_attempt from paid where len(failed_attempts) > 0
)
