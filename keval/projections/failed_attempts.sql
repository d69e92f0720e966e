-- No query but the column `failed_attempts` of responses, judgments and failures: the attempts before the last one, as the
-- event's line has them.
try_cast(line -> '$.failed_attempts' as struct(
    kind varchar, message varchar, cost_usd double, usage json, duration_ms bigint,
    orphaned_processes varchar[]
)[])
