-- One row per sample of the config of which the log has another record: its place in the dataset, and where the line of the
-- log's newest record begins.
select s.place, o.line_offset
from config_samples as s
join (
    select question_id, arg_max(sample_sha256, position) as sample_sha256, max(position) as position
    from events
    where type in ('response', 'sample_change')
    group by question_id
) as newest using (question_id)
join line_offsets as o using (position)
where newest.sample_sha256 <> s.sample_sha256
order by s.place
