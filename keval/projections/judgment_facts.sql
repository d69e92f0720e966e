-- One row per judgment, without its texts: the last event of its id, unless it or its response was retracted.
-- current, planned: see judgment_standings.
select
    e.position, e.log, e.id, e.time, e.run_id,
    e.response_id, e.sample_id, e.condition, e.condition_id, try_cast(e.repetition as bigint) as repetition, e.agent_id,
    try_cast(e.judge as struct(name varchar, type varchar, model varchar)) as judge, e.judge_id,
    try_cast(e.replicate as bigint) as replicate,
    e.sample_fields,
    e.scores, e.unverified_claims,
    try_cast(e.usage as struct(
        input_tokens bigint, output_tokens bigint, cache_read_input_tokens bigint, cache_creation_input_tokens bigint
    )) as usage,
    try_cast(e.cost_usd as double) as cost_usd,
    try_cast(e.duration_ms as bigint) as duration_ms,
    try_cast(e.attempts as bigint) as attempts,
    l.mock, s.planned, s.current
from events as e
join latest as l using (position)
join judgment_standings as s using (position)
