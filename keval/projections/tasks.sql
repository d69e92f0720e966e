-- One row per task that was tried: a sample under a condition, by an agent, for the n-th time.
-- failed is the kind of failure that the task ended in, null if there is a response.
select
    condition_id, agent_id, sample_id, repetition,
    if(bool_and(kind is not null), any_value(kind), null) as failed,
    bool_or(mock) as mock
from (
    select condition_id, agent_id, sample_id, repetition, null as kind, mock
    from response_facts
    where current
    union all
    -- Who was judged, or was to be judged, has answered, even if the log lacks the answer.
    select condition_id, agent_id, sample_id, repetition, null as kind, false as mock
    from judgment_facts
    where current
    union all
    select condition_id, agent_id, sample_id, repetition, null as kind, false as mock
    from failure_facts
    where current and stage = 'judge'
    union all
    select condition_id, agent_id, sample_id, repetition, kind, mock
    from failure_facts
    where current and stage = 'generate'
)
group by condition_id, agent_id, sample_id, repetition
