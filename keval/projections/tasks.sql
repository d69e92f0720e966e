-- One row per task that was tried and is current: a sample under a condition, by an agent, for the n-th time.
-- failed is the kind of failure that the task ended in, null if there is a response. planned: the newest plan has it.
select
    condition_id, agent_id, sample_id, repetition,
    if(bool_and(kind is not null), any_value(kind), null) as failed,
    coalesce(bool_or(planned), true) as planned,
    bool_or(mock) as mock
from (
    select condition_id, agent_id, sample_id, repetition, null as kind, planned, mock
    from response_facts
    where current
    union all
    -- Who was judged, or was to be judged, has answered, even if the log lacks the answer.
    select condition_id, agent_id, sample_id, repetition, null as kind, planned, false as mock
    from judgment_facts
    where current
    union all
    select condition_id, agent_id, sample_id, repetition, null as kind, null as planned, false as mock
    from failure_facts
    where current and stage = 'judge'
    union all
    select condition_id, agent_id, sample_id, repetition, kind, planned, mock
    from failure_facts
    where current and stage = 'generate'
)
group by condition_id, agent_id, sample_id, repetition
