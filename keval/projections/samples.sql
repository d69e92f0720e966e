-- One row per sample: its newest record, which is that of its last response or change.
select newest.sample_id, newest.sample_sha256, newest.position, t.sample
from texts as t
join (
    select sample_id, max(position) as position, arg_max(sample_sha256, position) as sample_sha256
    from events
    semi join latest using (position)
    where type in ('response', 'sample_change')
    group by sample_id
) as newest using (position)
