-- One row per current condition other than the baseline, agent, judge and metric: condition minus baseline, paired by
-- sample. The baseline is the one that the newest run names, or its first condition; without a run, the first by name. A sample
-- with a value under one of the two only is dropped. A difference that is float noise beside the values is a tie.
-- differences: how often each difference occurs, without ties and as a share of the largest value, which is enough for tests
-- that only ask for signs and ranks.
-- n_clusters, unclustered, se_clustered: as in cluster_errors, of the differences; null if no config names a cluster_key.
-- difference_lower, difference_upper: between what difference lies, whatever is missing would have scored; null where nothing is.
-- flipped: how often each difference occurs that is flipped as one, a sample's or the sum of a cluster's; failures_flipped the
-- same of the share of repetitions that the agent failed. These are of all samples that were answered, or failed, under both, also
-- of those that have no value because the config excludes failures, or because it was not measured; none where one of these samples
-- has no cluster.
with sample as materialized (
    select
        *, max(largest) over (partition by condition_id, baseline_id, agent_id, judge_id, metric) as scale
    from paired_samples
),
compared as (
    select
        condition_id, baseline_id, agent_id, judge_id, metric,
        count(s.difference) as n_paired,
        count(coalesce(s.mean, s.baseline_mean)) - count(s.difference) as n_dropped,
        -- Differences that differ by float noise only do not differ. They are summed in an order of their own: see condition_means.
        if(abs(favg(s.difference)) <= $noise * max(s.largest), 0, favg(s.difference)) as difference,
        case when max(s.difference) - min(s.difference) <= $noise * max(s.largest) and count(s.difference) > 1
            then 0 else stddev_samp(s.difference order by s.difference) end as sd_difference,
        count(*) filter (s.result = 'win') as wins,
        count(*) filter (s.result = 'tie') as ties,
        count(*) filter (s.result = 'loss') as losses,
        -- Of means that do not vary there is no correlation; corr() would return NaN.
        case when least(
            max(s.mean) filter (s.difference is not null) - min(s.mean) filter (s.difference is not null),
            max(s.baseline_mean) filter (s.difference is not null) - min(s.baseline_mean) filter (s.difference is not null)
        ) > $noise * max(s.largest)
            then round(greatest(-1, least(1, corr(s.mean, s.baseline_mean order by s.mean, s.baseline_mean) filter (s.difference is not null))), 11) end as correlation,
        sqrt(
            (
                var_samp(s.mean order by s.mean) filter (s.difference is not null)
                + var_samp(s.baseline_mean order by s.baseline_mean) filter (s.difference is not null)
            ) / count(s.difference)
        ) as se_unpaired,
        histogram(round(s.difference / nullif(s.scale, 0), 11) + 0.0) filter (s.result <> 'tie') as differences,
        max(s.largest) as largest,
        round(favg(s.failure_difference), 15) + 0.0 as failure_rate_difference,
        histogram(round(s.failure_difference, 11) + 0.0) filter (s.failure_difference is not null) as failure_differences,
        coalesce(bool_or(s.mock), false) as mock
    from compared_series
    left join sample as s using (condition_id, baseline_id, agent_id, judge_id, metric)
    group by all
),
having_clusters as (
    select condition_id from conditions where has_clusters
),
cluster as (
    select
        s.condition_id, s.baseline_id, s.agent_id, s.judge_id, s.metric, s.cluster,
        count(s.difference) as samples,
        fsum(s.difference - x.difference) as deviation,
        fsum(if(s.result = 'tie', 0, s.difference / nullif(s.scale, 0))) as total,
        fsum(s.failure_difference) as failures
    from sample as s
    join compared as x using (condition_id, baseline_id, agent_id, judge_id, metric)
    where (s.difference is not null or s.failure_difference is not null)
        and (condition_id in (from having_clusters) or baseline_id in (from having_clusters))
    group by all
),
clustered as (
    select
        condition_id, baseline_id, agent_id, judge_id, metric,
        count(cluster) filter (samples > 0) as clusters,
        coalesce(sum(samples) filter (cluster is null), 0)::bigint as lacking,
        fsum(deviation ** 2) as squares,
        histogram(round(total, 11) + 0.0) filter (cluster is not null and samples > 0) as flipped,
        if(bool_or(cluster is null and failures is not null), null,
            histogram(round(failures, 11) + 0.0) filter (failures is not null)
        ) as failures_flipped
    from cluster
    group by condition_id, baseline_id, agent_id, judge_id, metric
)
select
    b.condition as baseline, x.baseline_id, c.condition, x.condition_id, x.agent_id, m.judge, x.judge_id, x.metric,
    m.min, m.max, c.current, c.place as condition_place, m.place as metric_place, m.computed,
    x.n_paired, x.n_dropped, x.difference, x.sd_difference, x.wins, x.ties, x.losses, x.mock,
    x.sd_difference / sqrt(x.n_paired) as se,
    x.correlation, x.se_unpaired, x.failure_rate_difference,
    if(c.has_clusters or b.has_clusters, coalesce(k.clusters, 0), null) as n_clusters,
    if(n_clusters is null, null, coalesce(k.lacking, 0)) as unclustered,
    if(unclustered > 0 or n_clusters < 2, null,
        sqrt(if(k.squares <= ($noise * x.largest) ** 2, 0, k.squares) * n_clusters / (n_clusters - 1)) / x.n_paired
    ) as se_clustered,
    y.difference_lower, y.difference_upper,
    coalesce(x.differences, map()) as differences,
    coalesce(if(n_clusters is null, x.differences, k.flipped), map()) as flipped,
    coalesce(if(n_clusters is null, x.failure_differences, k.failures_flipped), map()) as failures_flipped
from compared as x
left join clustered as k using (condition_id, baseline_id, agent_id, judge_id, metric)
left join pair_bounds as y using (condition_id, baseline_id, agent_id, judge_id, metric)
join conditions as c on c.condition_id = x.condition_id and c.agent_id = x.agent_id
join conditions as b on b.condition_id = x.baseline_id and b.agent_id = x.agent_id
join metrics as m on m.judge_id = x.judge_id and m.metric = x.metric
order by condition_place, metric_place
