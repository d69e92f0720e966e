-- One row per log, condition, agent, stage and judge: what was spent on it, whatever became of it. What was retracted or
-- superseded was paid for all the same; a line that stands in several logs was paid for once, and counts for the first.
-- n counts calls of the stage, failed_attempts the attempts before a last one. cost_usd sums what is known, failed
-- attempts included; unknown counts the attempts whose cost nobody knows. Tokens are summed like costs.
with spent as (
    select
        arg_min(log, position) as log, type, id, run_id, time,
        condition, condition_id, agent_id,
        case type when 'response' then 'generate' when 'judgment' then 'judge' else stage end as stage,
        judge ->> '$.name' as judge, judge_id,
        try_cast(cost_usd as double) as cost_usd, usage, duration_ms, failed_attempts
    from events
    where type in ('response', 'judgment', 'failure')
    group by all
),
attempt as (
    select log, condition, condition_id, agent_id, stage, judge, judge_id, cost_usd, usage, false as failed
    from spent
    union all
    select log, condition, condition_id, agent_id, stage, judge, judge_id, attempt.cost_usd, attempt.usage, true
    from (
        select *, unnest(failed_attempts) as attempt from spent
    )
),
counted as (
    select
        log, max(condition) as condition, condition_id, agent_id, stage, max(judge) as judge, judge_id,
        count(*) filter (not failed) as n,
        fsum(cost_usd) as cost_usd,
        count(*) - count(cost_usd) as unknown,
        count(*) filter (failed) as failed_attempts,
        fsum(cost_usd) filter (failed) as failed_attempts_cost_usd,
        sum(try_cast(usage ->> '$.input_tokens' as bigint))::bigint as input_tokens,
        sum(try_cast(usage ->> '$.output_tokens' as bigint))::bigint as output_tokens,
        sum(try_cast(usage ->> '$.cache_read_input_tokens' as bigint))::bigint as cache_read_input_tokens,
        sum(try_cast(usage ->> '$.cache_creation_input_tokens' as bigint))::bigint as cache_creation_input_tokens
    from attempt
    group by log, condition_id, agent_id, stage, judge_id
)
select
    log, coalesce(c.condition, counted.condition) as condition, condition_id, agent_id,
    coalesce(c.current, false) as current,
    stage, judge, judge_id,
    n, cost_usd, unknown, failed_attempts, failed_attempts_cost_usd,
    input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens
from counted
left join conditions as c using (condition_id, agent_id)
