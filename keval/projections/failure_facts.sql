-- One row per failure, without its texts: the last event of its id, unless retracted. message is cut.
-- current: nothing has come of the task, or of the judging, since; see open_failures.
select
    position, e.log, id, time, run_id, stage, kind, message,
    sample_id, sample_sha256, question_id, condition, condition_id, try_cast(repetition as bigint) as repetition,
    agent_id,
    response_id, try_cast(judge as struct(name varchar, type varchar, model varchar)) as judge, judge_id,
    try_cast(replicate as bigint) as replicate,
    try_cast(mcp as map(varchar, struct(
        status varchar, offered varchar[], called bigint, failed bigint, server_name varchar, version varchar
    ))) as mcp,
    try_cast(usage as struct(
        input_tokens bigint, output_tokens bigint, cache_read_input_tokens bigint, cache_creation_input_tokens bigint
    )) as usage,
    try_cast(cost_usd as double) as cost_usd,
    try_cast(duration_ms as bigint) as duration_ms,
    try_cast(attempts as bigint) as attempts,
    l.mock,
    s.planned,
    position in (select position from open_failures) as current
from events as e
join latest as l using (position)
left join standings as s using (position)
where type = 'failure'
