-- One row per sample: its newest record, which is that of its last response or change, or of its last failure if it was never answered.
select sample_id, sample_sha256, position, line -> '$.sample' as sample
from (select f.*, $line as line from newest_samples as f)
