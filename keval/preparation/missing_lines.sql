-- One row per judgment of `missing_judgments`: where the line of its response begins, where that of the newest record of
-- its sample does, the judge's place, the replicate, and for a judge of pairs where the line of the baseline's response
-- begins, else -1, and the response's question; in the order of the log.
with record as (
    select question_id, arg_max(sample_sha256, position) as sample_sha256, max(position) as position
    from events
    where type in ('response', 'sample_change')
        and question_id in (select question_id from events semi join missing_judgments using (position))
    group by question_id
)
select
    e.line_offset, if(r.sample_sha256 = e.sample_sha256, e.line_offset, o.line_offset) as record_offset,
    m.place, m.replicate, coalesce(other.line_offset, -1), e.question_id
from missing_judgments as m
join facts as e using (position)
join record as r using (question_id)
join line_offsets as o on o.position = r.position
left join line_offsets as other on other.position = m.other_position
order by e.line_offset, m.place, m.replicate
