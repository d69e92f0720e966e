-- One row per change of a record in the course of the log, of samples that ask the same question: the position at which
-- it changed, and a field that did. field is null where nobody said what changed, as between merged logs.
with told as (
    select
        question_id, position, type, changed, sample_sha256,
        lag(sample_sha256) over (partition by question_id order by position) as before
    from events
    where type in ('response', 'sample_change')
)
select question_id, position, unnest(changed) as field from told where type = 'sample_change'
union all
select question_id, position, null as field from told where type = 'response' and before <> sample_sha256
