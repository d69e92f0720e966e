-- One row per condition and agent: durations, costs and tokens of its answers. What a mock says that its answers cost counts
-- only where all of them are a mock's.
select
    condition_id, agent_id, count(*) as n,
    favg(duration_ms) as mean_duration_ms, median(duration_ms) as median_duration_ms,
    quantile_cont(duration_ms, 0.9) as p90_duration_ms, quantile_cont(duration_ms, 0.99) as p99_duration_ms,
    if(bool_and(is_mock), favg(cost_usd), favg(cost_usd) filter (not is_mock)) as mean_cost_usd,
    sum(usage.input_tokens)::bigint as input_tokens, count(usage.input_tokens) as input_tokens_known,
    sum(usage.output_tokens)::bigint as output_tokens, count(usage.output_tokens) as output_tokens_known,
    sum(usage.cache_read_input_tokens)::bigint as cache_read_input_tokens,
    count(usage.cache_read_input_tokens) as cache_read_input_tokens_known,
    sum(usage.cache_creation_input_tokens)::bigint as cache_creation_input_tokens,
    count(usage.cache_creation_input_tokens) as cache_creation_input_tokens_known
from (
    select *, position in (select position from standing where mock) as is_mock
    from current_lines
    where type = 'response'
)
group by condition_id, agent_id
