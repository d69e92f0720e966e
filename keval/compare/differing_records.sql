-- One row per sample of which two logs have different newest records.
select sample_id
from log_$one.newest_samples as one
join log_$other.newest_samples as other using (sample_id)
where one.sample_sha256 <> other.sample_sha256
order by sample_id
