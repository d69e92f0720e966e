-- One row per line, in the order of `lines`: what becomes of it. counts: it is the last of its id and not retracted; of a
-- judgment, nor is its response. For the other columns see latest, standings, judgment_standings and open_failures.
select
    latest.mock,
    latest.position is not null and (e.type <> 'judgment' or j.position is not null) as counts,
    s.asked,
    coalesce(s.planned, j.planned) as planned,
    if(e.type = 'failure', f.position is not null, coalesce(s.current, j.current)) as current,
    j.answer, j.has_response, j.same_answer, j.same_sample
from events as e
left join latest using (position)
left join standings as s using (position)
left join judgment_standings as j using (position)
left join open_failures as f using (position)
order by position
