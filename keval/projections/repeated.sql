-- One row per line that says again what an earlier line says of what was paid: it stands in several logs.
select position
from (
    select position, row_number() over (
        partition by type, id, run_id, time, condition, stage, judge, cost_usd, usage, duration_ms, failed_attempts
        order by position
    ) as nth
    from events
    where id in (select id from event_versions where repeated)
)
where nth > 1
