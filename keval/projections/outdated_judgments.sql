-- One row per judgment that was given something of its sample that has changed since.
with changed_response as (
    select id, question_id
    from latest
    semi join changed_samples using (question_id)
    where type = 'response'
),
record as (
    -- The last time that the log had this record of what a question is about.
    select question_id, sample_sha256, max(position) as position
    from events
    semi join changed_samples using (question_id)
    where type in ('response', 'sample_change')
    group by question_id, sample_sha256
)
select distinct j.position
from changed_response as answered
join events as j on j.response_id = answered.id and j.type = 'judgment'
join record as r on r.question_id = answered.question_id and r.sample_sha256 = j.sample_sha256
join changed_samples as c
    on c.question_id = answered.question_id and c.position > r.position
    and (j.sample_fields is null or c.field is null or list_contains(j.sample_fields, c.field))
