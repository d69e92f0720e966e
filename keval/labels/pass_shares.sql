-- One row per stratum and sample: the share of its verdicts that are passes, and how many there are. cluster: the samples that
-- belong together, null if the sample has none, or, not is_clustered, if the config names no field for it.
select
    condition_id, agent_id, series, "by", sample_id, avg(passed::int) as share, count(*) as verdicts,
    any_value(c.has_clusters) as is_clustered, if(any_value(c.has_clusters), any_value(n.cluster), null) as cluster
from ($strata)
join conditions as c using (condition_id, agent_id)
left join newest_samples as n using (sample_id)
group by condition_id, agent_id, series, "by", sample_id
