-- One row per sample that belongs to one cluster by one log, and to another one by another log.
select sample_id
from newest_samples
where moved
order by sample_id
