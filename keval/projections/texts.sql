-- One row per line of the files, with what can be long. position is that of `events`. A view: the files are read again
-- each time, so ask for what you need.
select
    row_number() over () as position,
    sample, text,
    try_cast(turns as struct(
        type varchar, text varchar, id varchar, name varchar, server varchar, input json, result varchar,
        error boolean, duration_ms bigint
    )[]) as turns,
    try_cast(sources as varchar[]) as sources,
    try_cast(scores as map(varchar, struct(
        score double, reasoning varchar, min double, max double, passed boolean, not_applicable varchar
    ))) as scores,
    try_cast(unverified_claims as varchar[]) as unverified_claims,
    outcome, message,
    try_cast(failed_attempts as struct(
        kind varchar, message varchar, cost_usd double, usage json, duration_ms bigint,
        orphaned_processes varchar[]
    )[]) as failed_attempts
from records
