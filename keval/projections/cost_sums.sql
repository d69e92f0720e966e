-- One row per file, stage, condition, agent and judge, as the lines say them: what was spent, see costs. What a mock made is in it
-- only where nothing real was made of the stage.
select
    file, stage, condition_id, agent_id, judge_id, mock,
    max(condition) as condition, max(judge.name) as judge,
    count(*) filter (not failed) as n,
    count(*) filter (not failed and not asked_nobody) as asked,
    fsum(cost_usd) as cost_usd,
    count(*) - count(cost_usd) as unknown,
    count(*) filter (not failed and cost_usd is null) as unknown_calls,
    count(*) filter (failed) as failed_attempts,
    fsum(cost_usd) filter (failed) as failed_attempts_cost_usd,
    sum(usage.input_tokens)::bigint as input_tokens,
    sum(usage.output_tokens)::bigint as output_tokens,
    sum(usage.cache_read_input_tokens)::bigint as cache_read_input_tokens,
    sum(usage.cache_creation_input_tokens)::bigint as cache_creation_input_tokens
from paid_attempts
group by file, stage, condition_id, agent_id, judge_id, mock
qualify not mock or bool_and(mock) over (partition by stage, condition_id, agent_id)
