-- One row per sample of a condition: the means of its answers in the metrics that were asked for, the best combined first.
-- Which metric a column is of is said by judge and name; false is none. num_tokens is what the agent read and
-- wrote for an answer, caches included, as the mean over those whose tokens are known, which 0 are not. A sample that nothing answered has no question in the log.
select
    q.sample ->> '$.question' as question,
    max(mean) filter ($hit_rate) as hit_rate,
    max(mean) filter ($mrr) as mrr,
    max(mean) filter ($judge_score) as judge_score,
    any_value(t.tokens) as num_tokens,
    max(mean) filter ($combined_score) as combined_score,
from sample_scores as s
left join samples as q using (sample_id)
left join (
    select sample_id, favg(nullif(usage.input_tokens + usage.output_tokens + coalesce(usage.cache_read_input_tokens, 0)
        + coalesce(usage.cache_creation_input_tokens, 0), 0)) as tokens
    from responses
    where condition_id = $condition_id and agent_id = $agent_id and current
    group by sample_id
) as t using (sample_id)
where s.condition_id = $condition_id and s.agent_id = $agent_id and s.current
group by s.sample_id, q.sample, q.position
order by combined_score desc nulls last, q.position, s.sample_id
