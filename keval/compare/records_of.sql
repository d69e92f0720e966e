-- One row per sample of those that are named: its newest record.
select sample_id, sample from $samples where sample_id in $names
