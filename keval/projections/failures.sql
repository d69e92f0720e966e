-- One row per failure: the last event of its id, unless retracted.
-- current: nothing has come of the task, or of the judging, since; see open_failures.
-- condition is the newest name of the condition, as in scores.
select
    position, log, id, time, run_id, stage, kind, line ->> '$.message' as message,
    line -> '$.sample' as sample, sample_id, sample_sha256, question_id, condition, condition_id, repetition, agent_id,
    response_id, judge, judge_id, replicate,
    try_cast(line -> '$.turns' as struct(
        type varchar, text varchar, id varchar, name varchar, server varchar, input json, result varchar,
        error boolean, duration_ms bigint
    )[]) as turns,
    mcp, usage, cost_usd, duration_ms, attempts,
    try_cast(line -> '$.failed_attempts' as struct(
        kind varchar, message varchar, cost_usd double, usage json, duration_ms bigint,
        orphaned_processes varchar[]
    )[]) as failed_attempts,
    mock, current
from (
    -- Not by a join, which would put the rows into another order.
    select f.* replace (map_extract_value(names, condition_id || agent_id) as condition), $line as line
    from failure_facts as f, (select map(list(condition_id || agent_id), list(condition)) as names from conditions)
)
join files using (file)
