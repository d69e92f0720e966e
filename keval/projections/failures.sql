-- One row per failure, also of what has been done since: the last event of its id, unless retracted.
-- current: nothing has come of the task, or of the judging, since; see open_failures.
-- condition is the newest name of the condition, as in scores.
select
    position, log, id, time, run_id, stage, kind, line ->> '$.message' as message,
    line -> '$.sample' as sample, sample_id, sample_sha256, question_id, condition, condition_id, repetition, agent_id,
    response_id, judge, judge_id, replicate,
    $turns as turns,
    mcp, usage, cost_usd, duration_ms, attempts,
    $failed_attempts as failed_attempts,
    mock, current
from (
    -- Not by a join, which would put the rows into another order.
    select f.* replace (map_extract_value(names, {c: condition_id, a: agent_id}) as condition), $line as line
    from failure_facts as f, (
        select map(list({c: condition_id, a: agent_id}), list(condition)) as names from conditions
    )
)
join files using (file)
