-- One row per judgment: the last event of its id, unless it or its response was retracted.
-- current: it judged the present text of a response that is current, given the present sample. A judgment whose response
-- the log never held (a log cut with grep) stands for itself, if its condition and repetition are planned.
-- condition is the newest name of the condition, as in scores.
select
    position, log, id, time, run_id,
    response_id, sample_id, condition, condition_id, repetition, agent_id, judge, judge_id, replicate, sample_fields,
    try_cast(line -> '$.scores' as map(varchar, struct(
        score double, reasoning varchar, min double, max double, passed boolean, not_applicable varchar
    ))) as scores,
    try_cast(line -> '$.unverified_claims' as varchar[]) as unverified_claims,
    line -> '$.outcome' as outcome,
    usage, cost_usd, duration_ms, attempts,
    $failed_attempts as failed_attempts,
    mock, planned, current
from (
    -- Not by a join, which would put the rows into another order.
    select f.* replace (map_extract_value(names, {c: condition_id, a: agent_id}) as condition), $line as line
    from judgment_facts as f, (
        select map(list({c: condition_id, a: agent_id}), list(condition)) as names from conditions
    )
)
join files using (file)
