-- One row per judgment that counts as the last of its id and whose response was not retracted.
-- planned: the newest plan has its response; of a judgment whose response the log never held (a log cut with grep), its
-- condition and repetition.
-- current: it judged the present text of a response that is current, given the present sample.
with judgment as (
    select position, response_id, sample_id, condition_id, agent_id, try_cast(repetition as bigint) as repetition,
        sample_fields
    from events
    semi join latest using (position)
    where type = 'judgment'
),
outdated as (
    select j.position
    from judgment as j
    join changed_samples as c
        on c.sample_id = j.sample_id and c.position > j.position
        and (j.sample_fields is null or list_contains(j.sample_fields, c.field))
),
planned as (
    select condition_id, agent_id, max(repetitions) as repetitions from planned_conditions group by all
),
response as (
    select e.id, s.asked, s.planned from events as e join standings as s using (position) where e.type = 'response'
),
known as (
    select
        j.position,
        coalesce(r.planned, not exists (from plans) or coalesce(j.repetition <= p.repetitions, false)) as planned,
        coalesce(r.asked, true)
            and j.position > coalesce(w.position, 0)
            and j.position not in (select position from outdated) as up_to_date
    from judgment as j
    left join response as r on r.id = j.response_id
    left join retracted as gone on gone.id = j.response_id
    left join changed_answers as w on w.response_id = j.response_id
    left join planned as p on p.condition_id = j.condition_id and p.agent_id = j.agent_id
    where r.id is not null or gone.id is null
)
select position, planned, up_to_date and (planned or $everything) as current
from known
