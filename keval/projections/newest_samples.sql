-- One row per sample: where its newest record stands, which is that of its last response or change. corrected: it is that of
-- a change, which tells the golden answer of all that was answered before. is_searched, cluster: see lines.
select sample_id, sample_sha256, file, line_offset, position, type = 'sample_change' as corrected, is_searched, cluster
from events
join (
    select max(position) as position
    from events
    semi join latest using (position)
    where type in ('response', 'sample_change')
    group by sample_id
) as newest using (position)
join line_offsets using (position)
