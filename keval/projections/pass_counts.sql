-- One row per condition, agent, judge and metric, and per number of trials and of passes: how many samples have them, of each
-- cluster. trials are those that are planned and that the metric applies to: one that the agent failed did not pass.
-- is_clustered: the config names a field by which samples belong together; then a null says that a sample has none.
-- unknown: trials of them that were not measured, or not done. decides: the config says which score passes,
-- or some verdict says pass or fail, be it under another condition: this one may have failed throughout. Of older conditions
-- only their own do.
with sample as (
    select
        s.condition_id, s.agent_id, s.judge_id, s.metric, s.expected - s.unplanned as trials,
        s.passes, greatest(trials - s.decided - s.agent_failed, 0) as unknown, s.decided > 0 as decides, c.current,
        if(c.has_clusters, n.cluster, null) as cluster, c.has_clusters as is_clustered
    from $samples as s
    join conditions as c using (condition_id, agent_id)
    left join (
        -- Only where a cluster is asked for: else there is nothing to look up.
        from newest_samples where exists (from conditions where has_clusters)
    ) as n using (sample_id)
    where s.expected - s.unplanned > 0
)
select
    condition_id, agent_id, judge_id, metric, is_clustered, cluster, trials, passes,
    count(*) as samples, sum(unknown)::bigint as unknown,
    bool_or(bool_or(decides) or (current and any_value(coalesce(pass_from, pass_above)) is not null))
        over (partition by judge_id, metric, current) as decides
from sample
left join thresholds using (judge_id, metric)
left join (select judge_id, metric, pass_above from computed_metrics) using (judge_id, metric)
group by condition_id, agent_id, judge_id, metric, current, is_clustered, cluster, trials, passes
order by all
