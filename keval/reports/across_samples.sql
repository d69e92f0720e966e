-- One row per sample of which a log says what it belongs to; unknown where two logs say two things.
select sample_id, if(min(cluster) = max(cluster), min(cluster), null) as cluster
from ($clusters)
group by sample_id
