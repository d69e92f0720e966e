-- One row per sample: where its newest record stands, which is that of its last response or change, and of a sample that was
-- never answered that of its last failure. corrected: it is that of a change, which tells the golden answer of all that was
-- answered before. is_searched, cluster: see lines.
select sample_id, sample_sha256, file, line_offset, position, type = 'sample_change' as corrected, is_searched, cluster
from events
join (
    -- What was answered ranks above all that failed; a position has fewer than 40 bits.
    select max(if(type = 'failure', 0, 1::bigint << 40) + position) % (1::bigint << 40) as position
    from latest
    where has_sample
    group by sample_id
) as newest using (position)
join line_offsets using (position)
