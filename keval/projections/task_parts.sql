-- One row per event that tells of a task that was tried and is current: its response; where the log lacks that, its
-- judgments and the failures of judges; and the failure that it ended in. status: how its answer ended, where it is there.
select position, condition_id, agent_id, sample_id, repetition, null as kind, status, planned, mock
from response_facts
where current
union all
-- Who was judged, or was to be judged, has answered, even if the log lacks the answer.
select answer, condition_id, agent_id, sample_id, repetition, null as kind, null as status, planned, false as mock
from judgment_facts
where current and not has_response
union all
select position, condition_id, agent_id, sample_id, repetition, null as kind, null as status, null as planned, false as mock
from failure_facts
where current and stage = 'judge'
union all
select position, condition_id, agent_id, sample_id, repetition, kind, null as status, planned, mock
from failure_facts
where current and stage = 'generate'
