-- One row per line, in the order of `lines`: what becomes of it. counts: it is the last of its id and not retracted; of a
-- judgment, nor is its response. asked and planned say something of responses and failed tasks, planned also of judgments: see
-- partly_planned; for the other columns see judgment_standings and open_failures. The position is stored: the row ids of a
-- table are places in it only after the transaction in which it is made.
select
    e.position,
    e.mock,
    e.counts and (e.type <> 'judgment' or j.position is not null) as counts,
    if(is_task, coalesce(s.asked, true), null) as asked,
    if(is_task, coalesce(s.planned, true), j.planned) as planned,
    case
        when e.type = 'failure' then f.position is not null
        when is_task then coalesce(s.current, true)
        else j.current
    end as current,
    j.answer, j.has_response, j.same_answer, j.same_sample
from (select *, counts and (type = 'response' or (type = 'failure' and stage = 'generate')) as is_task from marked_events) as e
left join partly_planned as s using (position)
left join judgment_standings as j using (position)
left join open_failures as f using (position)
order by position
