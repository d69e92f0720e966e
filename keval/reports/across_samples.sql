-- One row per sample of which a log says what it belongs to. Where two logs say two things of one that is compared, it belongs
-- to both, which are one then: see joined_clusters.py. moved: that is so.
select sample_id, coalesce(j.joined, n.cluster) as cluster, n.moved
from (
    select
        sample_id, min(cluster) as cluster,
        count(distinct cluster) > 1 and sample_id in (select sample_id from sample_means) as moved
    from sample_clusters
    group by sample_id
) as n
left join joined_clusters as j using (cluster)
