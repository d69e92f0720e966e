-- One row for a condition: the agent that gave its newest current one, as this says itself.
select arg_max(agent, position) as agent
from response_facts
where condition_id = $condition_id and agent_id = $agent_id and current
