-- One row per judgment that counts as the last of its id and whose response was not retracted.
-- planned: the newest plan has its response; of a judgment whose response the log never held (a log cut with grep), its
-- condition and repetition.
-- current: it judged the present text of a response that is current, given what it would be given of the sample now;
-- wherever in the log it stands: a judgment may have been begun before what it is about changed.
with judgment as (
    select position, response_id, sample_id, condition_id, agent_id, try_cast(repetition as bigint) as repetition,
        sample_fields, sample_sha256, answer_sha256
    from events
    semi join latest using (position)
    where type = 'judgment'
),
record as (
    -- The last time that the log had this record of what a question is about.
    select question_id, sample_sha256, max(position) as position
    from events
    where type in ('response', 'sample_change')
    group by question_id, sample_sha256
),
response as (
    select e.id, e.question_id, e.answer_sha256, s.asked, s.planned
    from events as e
    join standings as s using (position)
    where e.type = 'response'
),
outdated as (
    select j.position
    from judgment as j
    join response as answered on answered.id = j.response_id
    join record as r on r.question_id = answered.question_id and r.sample_sha256 = j.sample_sha256
    join changed_samples as c
        on c.question_id = answered.question_id and c.position > r.position
        and (j.sample_fields is null or c.field is null or list_contains(j.sample_fields, c.field))
),
planned as (
    select condition_id, agent_id, max(repetitions) as repetitions from planned_conditions group by all
),
known as (
    select
        j.position,
        coalesce(r.planned, not exists (from plans) or coalesce(j.repetition <= p.repetitions, false)) as planned,
        coalesce(r.asked, true)
            and coalesce(r.answer_sha256 = j.answer_sha256, true)
            and j.position not in (select position from outdated) as up_to_date
    from judgment as j
    left join response as r on r.id = j.response_id
    left join retracted as gone on gone.id = j.response_id
    left join planned as p on p.condition_id = j.condition_id and p.agent_id = j.agent_id
    where r.id is not null or gone.id is null
)
select position, planned, up_to_date and (planned or $everything) as current
from known
