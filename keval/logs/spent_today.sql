-- One row: what the events of a day cost, failed attempts included, and how many attempts of unknown cost there were.
-- A line that a merged log holds twice was paid for once.
select coalesce(fsum(usd), 0) as usd, count(*) - count(usd) as unknown
from (
    select unnest([usd] || list_transform(failed, lambda attempt: attempt.cost_usd)) as usd
    from (
        select
            any_value(cost_usd) as usd,
            coalesce(any_value(failed_attempts), []) as failed
        from events
        where type in ('response', 'judgment', 'failure') and left(time, 10) = $today
            and coalesce(mock, false) = $mock
        group by id, run_id, time
    )
)
