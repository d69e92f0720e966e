-- One row per condition, agent and metric of type combined: its formula once more, of the condition's means.
-- score_of_means is not the mean of the answers' scores: the formula is not linear. mean_tokens is the mean over samples of
-- the tokens of an answer, as far as they are known. Null where a part has no mean, or no tokens are known. se_of_means is its
-- standard error, by the delta method on the logarithm, over the samples of which all is known.
with part as (
    -- Sums are taken in an order of their own, or the last digits would depend on the log's.
    select
        s.condition_id, s.agent_id, p.judge_id, p.metric, p.part, any_value(p.weight) as weight,
        favg(s.mean order by s.mean) as mean
    from sample_means as s
    join computed_parts as p on p.of_judge_id = s.judge_id and p.of_metric = s.metric
    group by s.condition_id, s.agent_id, p.judge_id, p.metric, p.part
),
of_parts as (
    select
        condition_id, agent_id, judge_id, metric, count(mean) as n_parts,
        product(mean ** weight order by part) as product
    from part
    group by condition_id, agent_id, judge_id, metric
),
of_sample as (
    select condition_id, agent_id, judge_id, metric, sample_id, favg(tokens order by tokens) as tokens
    from computed_scores
    group by condition_id, agent_id, judge_id, metric, sample_id
),
of_tokens as (
    select condition_id, agent_id, judge_id, metric, favg(tokens order by tokens) as mean_tokens
    from of_sample
    group by condition_id, agent_id, judge_id, metric
),
means as (
    select
        condition_id, agent_id, judge_id, metric, t.mean_tokens, m.tokens_exponent, len(m.parts) as n_parts,
        if(of_parts.n_parts = len(m.parts), product / (t.mean_tokens / m.per_tokens) ** m.tokens_exponent, null)
            as score_of_means
    from of_parts
    join computed_metrics as m using (judge_id, metric)
    left join of_tokens as t using (condition_id, agent_id, judge_id, metric)
    where m.computed = 'combined'
),
-- How far a sample's parts lie from their means, each by its exponent: the first terms of a series.
away as (
    select
        p.condition_id, p.agent_id, p.judge_id, p.metric, s.sample_id, count(s.mean) as n_parts,
        sum(p.weight * (s.mean / nullif(p.mean, 0) - 1) order by p.part) as away
    from part as p
    join computed_parts as c on c.judge_id = p.judge_id and c.metric = p.metric and c.part = p.part
    join sample_means as s on s.condition_id = p.condition_id and s.agent_id = p.agent_id
        and s.judge_id = c.of_judge_id and s.metric = c.of_metric
    group by p.condition_id, p.agent_id, p.judge_id, p.metric, s.sample_id
),
deviation as (
    select
        condition_id, agent_id, judge_id, metric, a.away - m.tokens_exponent * (o.tokens / m.mean_tokens - 1) as d
    from away as a
    join means as m using (condition_id, agent_id, judge_id, metric)
    join of_sample as o using (condition_id, agent_id, judge_id, metric, sample_id)
    where a.n_parts = m.n_parts and o.tokens is not null
),
error as (
    select condition_id, agent_id, judge_id, metric, stddev_samp(d order by d) / sqrt(count(*)) as relative
    from deviation
    group by condition_id, agent_id, judge_id, metric
)
select condition_id, agent_id, judge_id, metric, mean_tokens, score_of_means, score_of_means * relative as se_of_means
from means
left join error using (condition_id, agent_id, judge_id, metric)
