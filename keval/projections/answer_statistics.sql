-- One row per condition and agent: durations, costs and tokens of its answers.
select
    condition_id, agent_id, count(*) as n,
    favg(duration_ms) as mean_duration_ms, median(duration_ms) as median_duration_ms,
    quantile_cont(duration_ms, 0.9) as p90_duration_ms, quantile_cont(duration_ms, 0.99) as p99_duration_ms,
    favg(cost_usd) as mean_cost_usd,
    sum(usage.input_tokens)::bigint as input_tokens, count(usage.input_tokens) as input_tokens_known,
    sum(usage.output_tokens)::bigint as output_tokens, count(usage.output_tokens) as output_tokens_known,
    sum(usage.cache_read_input_tokens)::bigint as cache_read_input_tokens,
    count(usage.cache_read_input_tokens) as cache_read_input_tokens_known,
    sum(usage.cache_creation_input_tokens)::bigint as cache_creation_input_tokens,
    count(usage.cache_creation_input_tokens) as cache_creation_input_tokens_known
from current_lines
where type = 'response'
group by condition_id, agent_id
