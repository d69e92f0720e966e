-- One row per current comparison: what there is of it, and what its numbers vary by, as a pilot for a plan.
-- repetitions and baseline_repetitions: how many of the paired samples were answered so often; replicates and baseline_replicates:
-- how many answers have so many judgments.
-- var_difference is the variance of the samples' differences, or, of samples in clusters, of as many independent ones that
-- would give the larger standard error; var_within that of a sample's repetitions, summed over both
-- conditions, and weighed by how many repetitions each sample has in noise; var_judgments that of a response's judgments, summed
-- over both conditions, and judging its part of var_within. Null where nothing was repeated. The variances are those of
-- condition_means, which has the agent's failures in it, and of variance_components.
with judged as (
    select condition_id, agent_id, judge_id, metric, answer, count(score) as judgments
    from score_facts
    group by condition_id, agent_id, judge_id, metric, answer
    having judgments > 0
    union all
    -- What is computed has none of its own: one more of each of its parts makes one more of it.
    select condition_id, agent_id, judge_id, metric, answer, 1 from computed_scores where score is not null
),
of_condition as (
    select
        condition_id, agent_id, judge_id, metric,
        histogram(judgments) as replicates,
        avg(1 / judgments) as share
    from judged
    group by condition_id, agent_id, judge_id, metric
),
repeated as (
    select
        condition_id, baseline_id, agent_id, judge_id, metric,
        histogram(n) as repetitions, histogram(baseline_n) as baseline_repetitions,
        avg(1 / n) as share, avg(1 / baseline_n) as baseline_share
    from paired_samples
    where difference is not null
    group by condition_id, baseline_id, agent_id, judge_id, metric
)
select
    x.baseline, x.condition, x.agent_id, x.judge, x.judge_id, x.metric, x.min, x.max, x.baseline_id, x.condition_id, x.mock,
    x.n_paired, x.difference,
    coalesce(r.repetitions, map()) as repetitions, coalesce(r.baseline_repetitions, map()) as baseline_repetitions,
    coalesce(j.replicates, map()) as replicates, coalesce(k.replicates, map()) as baseline_replicates,
    x.se, x.n_clusters, x.unclustered, x.se_clustered,
    case
        when x.n_clusters is null then x.sd_difference ** 2
        when x.se_clustered is not null then x.n_paired * greatest(x.se, x.se_clustered) ** 2
    end as var_difference,
    s.var_within_sample + b.var_within_sample as var_within,
    s.var_within_sample * r.share + b.var_within_sample * r.baseline_share as noise,
    s.var_judgment + b.var_judgment as var_judgments,
    s.var_judgment * j.share + b.var_judgment * k.share as judging
from comparisons as x
join condition_scores as s
    on s.condition_id = x.condition_id and s.agent_id = x.agent_id and s.judge_id = x.judge_id and s.metric = x.metric
join condition_scores as b
    on b.condition_id = x.baseline_id and b.agent_id = x.agent_id and b.judge_id = x.judge_id and b.metric = x.metric
left join repeated as r
    on r.condition_id = x.condition_id and r.baseline_id = x.baseline_id and r.agent_id = x.agent_id
    and r.judge_id = x.judge_id and r.metric = x.metric
left join of_condition as j
    on j.condition_id = x.condition_id and j.agent_id = x.agent_id and j.judge_id = x.judge_id and j.metric = x.metric
left join of_condition as k
    on k.condition_id = x.baseline_id and k.agent_id = x.agent_id and k.judge_id = x.judge_id and k.metric = x.metric
where x.current
order by x.condition_place, x.metric_place
