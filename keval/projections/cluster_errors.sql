-- One row per condition, agent, judge and metric whose config names a field by which samples belong together: how many such
-- clusters there are, how many samples with a value have none, and the standard error of the mean that they give: CR1, as in
-- a regression on a constant, sqrt(G / (G - 1) * fsum(d ** 2)) / n, d being a cluster's sum of deviations from the mean.
with value as (
    select s.condition_id, s.agent_id, s.judge_id, s.metric, s.mean, s.largest, n.cluster
    from sample_means as s
    semi join (from conditions where has_clusters) as c using (condition_id, agent_id)
    left join newest_samples as n using (sample_id)
    where s.mean is not null
),
middle as (
    -- Sums are taken in an order of their own, or the last digits would depend on the log's.
    select
        condition_id, agent_id, judge_id, metric,
        favg(mean order by mean) as middle, count(*) as n, count(*) - count(cluster) as unclustered, max(largest) as largest
    from value
    group by condition_id, agent_id, judge_id, metric
),
deviation as (
    select condition_id, agent_id, judge_id, metric, v.cluster, fsum(v.mean - m.middle order by v.mean) as d
    from value as v
    join middle as m using (condition_id, agent_id, judge_id, metric)
    group by condition_id, agent_id, judge_id, metric, v.cluster
),
squares as (
    select condition_id, agent_id, judge_id, metric, count(cluster) as n_clusters, fsum(d ** 2 order by d) as squares
    from deviation
    group by condition_id, agent_id, judge_id, metric
)
select
    condition_id, agent_id, judge_id, metric, n_clusters, unclustered,
    if(unclustered > 0 or n_clusters < 2, null,
        sqrt(if(squares <= ($noise * largest) ** 2, 0, squares) * n_clusters / (n_clusters - 1)) / n) as se_clustered
from squares
join middle using (condition_id, agent_id, judge_id, metric)
