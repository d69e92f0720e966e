-- One row per judgment, without its texts: the last event of its id, unless it or its response was retracted.
-- current: it judged the present text of a response that is current. A judgment whose response the log never
-- held (a log cut with grep) stands for itself.
select
    j.position, j.id, j.time, j.run_id,
    j.response_id, j.sample_id, j.condition, j.condition_id, try_cast(j.repetition as bigint) as repetition, j.agent_id,
    try_cast(j.judge as struct(name varchar, type varchar, model varchar)) as judge, j.judge_id,
    try_cast(j.replicate as bigint) as replicate,
    j.scores, j.unverified_claims,
    try_cast(j.usage as struct(
        input_tokens bigint, output_tokens bigint, cache_read_input_tokens bigint, cache_creation_input_tokens bigint
    )) as usage,
    try_cast(j.cost_usd as double) as cost_usd,
    try_cast(j.duration_ms as bigint) as duration_ms,
    try_cast(j.attempts as bigint) as attempts,
    l.mock,
    coalesce(r.current, true) and j.position > coalesce(w.position, 0) as current
from events as j
join latest as l using (position)
left join response_facts as r on r.id = j.response_id
left join retracted as gone on gone.id = j.response_id
left join changed_answers as w on w.response_id = j.response_id
where j.type = 'judgment' and (r.id is not null or gone.id is null)
