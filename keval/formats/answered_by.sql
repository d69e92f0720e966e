-- One row per model that gave a current answer of a condition.
select distinct unnest(models) as model
from response_facts
where condition_id = $condition_id and agent_id = $agent_id and current
