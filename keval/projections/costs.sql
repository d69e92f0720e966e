-- One row per log, condition, agent, stage and judge: what was spent on it, whatever became of it. What was retracted or
-- superseded was paid for all the same; a line that stands in several logs was paid for once, and counts for the first.
-- n counts calls of the stage, failed_attempts the attempts before a last one. cost_usd sums what is known, failed
-- attempts included; unknown counts the attempts whose cost nobody knows. Tokens are summed like costs.
-- mock: nothing was paid, a stand-in said so; where something real was done of the stage, only that is summed.
with counted as (
    select
        log, condition_id, agent_id, stage, judge_id,
        max(condition) as condition, max(judge) as judge,
        sum(n)::bigint as n,
        fsum(cost_usd) as cost_usd,
        sum(unknown)::bigint as unknown,
        sum(failed_attempts)::bigint as failed_attempts,
        fsum(failed_attempts_cost_usd) as failed_attempts_cost_usd,
        sum(input_tokens)::bigint as input_tokens,
        sum(output_tokens)::bigint as output_tokens,
        sum(cache_read_input_tokens)::bigint as cache_read_input_tokens,
        sum(cache_creation_input_tokens)::bigint as cache_creation_input_tokens,
        bool_or(mock) as mock
    from cost_sums
    join files using (file)
    group by log, condition_id, agent_id, stage, judge_id
)
select
    log, coalesce(c.condition, counted.condition) as condition, condition_id, agent_id,
    coalesce(c.current, false) as current,
    stage, judge, judge_id,
    n, cost_usd, unknown, failed_attempts, failed_attempts_cost_usd,
    input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens, mock
from counted
left join conditions as c using (condition_id, agent_id)
