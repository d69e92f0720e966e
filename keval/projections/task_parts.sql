-- One row per event that tells of a task that was tried and is current: its response; where the log lacks that, its
-- judgments and the failures of judges; and the failure that it ended in. status: how its answer ended, where it is there.
select
    position, condition_id, agent_id, sample_id, repetition, null as kind, status, coalesce(s.planned, true) as planned, mock
from latest
left join partly_planned as s using (position)
where type = 'response' and coalesce(s.current, true)
union all
-- Who was judged, or was to be judged, has answered, even if the log lacks the answer.
select s.answer, condition_id, agent_id, sample_id, repetition, null as kind, null as status, s.planned, false as mock
from (from judgment_standings where current and not has_response) as s
join latest using (position)
union all
select position, condition_id, agent_id, sample_id, repetition,
    if(stage = 'judge', null, kind) as kind, null as status,
    if(stage = 'judge', null, coalesce(s.planned, true)) as planned, mock and stage <> 'judge' as mock
from latest
semi join open_failures using (position)
left join partly_planned as s using (position)
where type = 'failure'
