-- One row per set of clusters to which a sample belongs, one by each of several logs, if they are not the same one.
select distinct list(distinct cluster order by cluster) as clusters
from ($clusters)
where cluster is not null
group by sample_id
having count(distinct cluster) > 1
