-- One row per sample of which a log says what it belongs to. Where two logs say two things of one that is compared, it belongs
-- to both, which are one then: see joined_clusters.py.
select sample_id, coalesce(j.joined, s.cluster) as cluster
from (select sample_id, min(cluster) as cluster from sample_clusters group by sample_id) as s
left join joined_clusters as j using (cluster)
