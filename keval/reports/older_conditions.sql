-- One row per older version of a condition that something is in the log of: of that name, another one is newer.
select condition, condition_id
from conditions
semi join (
    select condition_id, agent_id from response_facts where asked
    union all
    select condition_id, agent_id from failure_facts
) as known using (condition_id, agent_id)
where not newest
order by condition, condition_id
