-- One row per condition and agent with an event that counts: whether a mock made one of them.
select condition_id, agent_id, bool_or(mock) as mock
from (
    select condition_id, agent_id, mock from response_facts where current
    union all select condition_id, agent_id, mock from judgment_facts where current
    union all select condition_id, agent_id, mock from failure_facts where current
)
group by condition_id, agent_id
