-- One row per condition, agent, judge and metric with a value: how many samples have each mean, ascending; and of the samples that
-- are shown, of $most at most all, the names by their means, these, and of which the agent failed an answer. Names and numbers
-- stand apart, as a list of texts or numbers is read many times as fast as one of structs.
with sample as (
    from sample_means where mean is not null
),
value as (
    select judge_id, metric, condition_id, agent_id, mean, count(*) as samples from sample group by all
),
series as (
    select
        judge_id, metric, condition_id, agent_id,
        list(mean order by mean) as means, list(samples order by mean) as samples, sum(samples) <= $most as are_few
    from value
    group by judge_id, metric, condition_id, agent_id
),
shown as (
    select judge_id, metric, condition_id, agent_id, sample_id, mean, agent_failed
    from sample
    where sample_id in (select unnest($shown))
    union
    select judge_id, metric, condition_id, agent_id, sample_id, mean, agent_failed
    from sample
    semi join (from series where are_few) using (judge_id, metric, condition_id, agent_id)
),
named as (
    select
        judge_id, metric, condition_id, agent_id,
        list(sample_id order by mean, sample_id) as names,
        list(mean order by mean, sample_id) as named_means,
        list(sample_id order by mean, sample_id) filter (agent_failed > 0) as failed
    from shown
    group by judge_id, metric, condition_id, agent_id
)
select
    judge_id, metric, condition_id, agent_id, means, samples,
    coalesce(names, []) as names, coalesce(named_means, []) as named_means, coalesce(failed, []) as failed
from series
left join named using (judge_id, metric, condition_id, agent_id)
order by judge_id, metric, condition_id, agent_id
