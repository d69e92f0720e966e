-- One row per condition, agent, stage and kind of failure, with one message as an example.
select condition_id, agent_id, stage, kind, count(*) as count, arg_min(message, {time: time, id: id}) as example
from failure_facts where current
group by condition_id, agent_id, stage, kind
order by stage, count desc, kind
