-- One row per judgment, without its texts: the last event of its id, unless it or its response was retracted.
-- current: it judged the present text of a response that is current, given the present sample. A judgment whose response
-- the log never held (a log cut with grep) stands for itself, if its condition and repetition are planned.
with judgment as (
    select * from events where type = 'judgment'
),
outdated as (
    select j.position
    from judgment as j
    join changed_samples as c
        on c.sample_id = j.sample_id and c.position > j.position
        and (j.sample_fields is null or list_contains(j.sample_fields, c.field))
),
planned as (
    select condition_id, agent_id, max(repetitions) as repetitions from planned_conditions group by all
),
judged as (
    select
        j.position, j.log, j.id, j.time, j.run_id,
        j.response_id, j.sample_id, j.condition, j.condition_id, try_cast(j.repetition as bigint) as repetition,
        j.agent_id,
        try_cast(j.judge as struct(name varchar, type varchar, model varchar)) as judge, j.judge_id,
        try_cast(j.replicate as bigint) as replicate,
        j.sample_fields,
        j.scores, j.unverified_claims,
        try_cast(j.usage as struct(
            input_tokens bigint, output_tokens bigint,
            cache_read_input_tokens bigint, cache_creation_input_tokens bigint
        )) as usage,
        try_cast(j.cost_usd as double) as cost_usd,
        try_cast(j.duration_ms as bigint) as duration_ms,
        try_cast(j.attempts as bigint) as attempts,
        l.mock,
        coalesce(r.planned, not exists (from plans) or coalesce(p.repetitions >= j.repetition::bigint, false))
            as planned,
        coalesce(r.asked, true)
            and j.position > coalesce(w.position, 0)
            and j.position not in (select position from outdated) as up_to_date
    from judgment as j
    join latest as l using (position)
    left join response_facts as r on r.id = j.response_id
    left join retracted as gone on gone.id = j.response_id
    left join changed_answers as w on w.response_id = j.response_id
    left join planned as p on p.condition_id = j.condition_id and p.agent_id = j.agent_id
    where r.id is not null or gone.id is null
)
select * exclude (up_to_date), up_to_date and (planned or $everything) as current
from judged
