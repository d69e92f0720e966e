-- One row per failure: the last event of its id, unless retracted.
-- current: nothing has come of the task, or of the judging, since; see open_failures.
select
    position, id, time, run_id, stage, kind, message,
    sample_id, sample_sha256, condition, condition_id, try_cast(repetition as bigint) as repetition, agent_id,
    response_id, try_cast(judge as struct(name varchar, type varchar, model varchar)) as judge, judge_id,
    try_cast(replicate as bigint) as replicate,
    try_cast(turns as struct(
        type varchar, text varchar, id varchar, name varchar, server varchar, input json, result varchar,
        error boolean, duration_ms bigint
    )[]) as turns,
    try_cast(mcp as map(varchar, struct(
        status varchar, offered varchar[], called bigint, failed bigint, server_name varchar, version varchar
    ))) as mcp,
    try_cast(usage as struct(
        input_tokens bigint, output_tokens bigint, cache_read_input_tokens bigint, cache_creation_input_tokens bigint
    )) as usage,
    try_cast(cost_usd as double) as cost_usd,
    try_cast(duration_ms as bigint) as duration_ms,
    try_cast(attempts as bigint) as attempts,
    try_cast(failed_attempts as struct(
        kind varchar, message varchar, cost_usd double, usage json, duration_ms bigint,
        leaked_processes varchar[]
    )[]) as failed_attempts,
    l.mock,
    position in (select position from open_failures) as current
from events
join latest as l using (position)
where type = 'failure'
