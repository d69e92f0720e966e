-- One row per response: the last event of its id, unless retracted.
-- current: it answers the question that counts of its sample, and is planned: the newest plan has its question, condition,
-- agent and repetition. Everything computed from responses uses only these.
-- condition is the newest name of the condition, as in scores.
select
    position, log, id, time, run_id,
    line -> '$.sample' as sample, sample_id, sample_sha256, question_id,
    condition, condition_id, repetition, agent, agent_id,
    status, line ->> '$.text' as text,
    $turns as turns,
    mcp, try_cast(line -> '$.sources' as varchar[]) as sources,
    usage, cost_usd, duration_ms, num_turns, models, attempts,
    $failed_attempts as failed_attempts,
    mock, planned, current
from (
    -- Not by a join, which would put the rows into another order.
    select f.* replace (map_extract_value(names, {c: condition_id, a: agent_id}) as condition), $line as line
    from response_facts as f, (
        select map(list({c: condition_id, a: agent_id}), list(condition)) as names from conditions
    )
)
join files using (file)
