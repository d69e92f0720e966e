-- One row per set of clusters to which a sample that is compared belongs, one by each of several logs, if they are not the same
-- one. A sample that is another question in each log tells nothing.
select distinct list(distinct cluster order by cluster) as clusters
from sample_clusters
where cluster is not null and sample_id in (select sample_id from sample_means)
group by sample_id
having count(distinct cluster) > 1
