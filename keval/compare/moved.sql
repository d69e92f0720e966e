-- One row per sample that is compared and belongs to several clusters: to one by one log, and to another one by another.
select sample_id, list(distinct cluster order by cluster) as clusters
from sample_clusters
where sample_id in (select sample_id from sample_means)
group by sample_id
having count(distinct cluster) > 1
order by sample_id
