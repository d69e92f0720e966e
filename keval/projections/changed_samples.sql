-- One row per change of a record in the course of the log, of samples that ask the same question: the position at which
-- it changed, and a field that did. field is null where nobody said what changed, as between merged logs.
with several as (
    select question_id
    from events
    where type in ('response', 'sample_change')
    group by question_id
    having min(sample_sha256) <> max(sample_sha256) or bool_or(type = 'sample_change')
),
told as (
    select
        question_id, position, type, sample_sha256,
        lag(sample_sha256) over (partition by question_id order by position) as before
    from events
    semi join several using (question_id)
    where type in ('response', 'sample_change')
)
select question_id, position, unnest(changed) as field from told join declarations using (position) where told.type = 'sample_change'
union all
select question_id, position, null as field from told where type = 'response' and before <> sample_sha256
