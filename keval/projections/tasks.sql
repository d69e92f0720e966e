-- One row per task that was tried and is current: a sample under a condition, by an agent, for the n-th time.
-- task is its number, parts how many events tell of it. failed is the kind of failure that the task ended in, null if
-- there is a response; status is how its answer ended. planned: the newest plan has it.
with several as (
    -- Most tasks have one event. Hashes tell which may have more: numbers are quick to group.
    select hash(condition_id, agent_id, sample_id, repetition) as hashed from task_parts group by hashed having count(*) > 1
)
select
    condition_id, agent_id, sample_id, repetition,
    position as task, 1 as parts, kind as failed, status, coalesce(planned, true) as planned, mock
from task_parts
where hash(condition_id, agent_id, sample_id, repetition) not in (from several)
union all
select
    condition_id, agent_id, sample_id, repetition,
    min(position) as task,
    count(*) as parts,
    if(bool_and(kind is not null), any_value(kind), null) as failed,
    max(status) as status,
    coalesce(bool_or(planned), true) as planned,
    bool_or(mock) as mock
from task_parts
where hash(condition_id, agent_id, sample_id, repetition) in (from several)
group by condition_id, agent_id, sample_id, repetition
