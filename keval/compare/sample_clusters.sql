-- One row per sample of a log whose config names a field by which samples belong together.
select sample_id, cluster
from log_$number.newest_samples
where exists (from log_$number.conditions where current and has_clusters)
