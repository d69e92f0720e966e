-- One row per response, without its texts: the last event of its id, unless retracted.
-- current: it answers the question that counts of its sample, and is planned. Everything computed from responses uses
-- only these. asked, planned: see standings.
select
    e.position, e.log, e.id, e.time, e.run_id,
    e.sample_id, e.sample_sha256, e.question_id,
    e.condition, e.condition_id, try_cast(e.repetition as bigint) as repetition,
    try_cast(e.agent as struct(name varchar, type varchar, model varchar)) as agent, e.agent_id,
    e.status,
    try_cast(e.mcp as map(varchar, struct(
        status varchar, offered varchar[], called bigint, failed bigint, server_name varchar, version varchar
    ))) as mcp,
    try_cast(e.usage as struct(
        input_tokens bigint, output_tokens bigint, cache_read_input_tokens bigint, cache_creation_input_tokens bigint
    )) as usage,
    try_cast(e.cost_usd as double) as cost_usd,
    try_cast(e.duration_ms as bigint) as duration_ms,
    try_cast(e.num_turns as bigint) as num_turns,
    try_cast(e.models as varchar[]) as models,
    try_cast(e.attempts as bigint) as attempts,
    e.failed_attempts,
    l.mock, s.asked, s.planned, s.current
from events as e
join latest as l using (position)
join standings as s using (position)
where e.type = 'response'
