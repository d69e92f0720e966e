-- One row per config name: its newest run whose plan the log holds whole, with what that run plans. Of a plan that a
-- crash cut off nothing was asked yet. Imports of other conditions stand beside each other: a file may hold one of them.
select
    config_name,
    arg_max(position, rank) as position, arg_max(plan_id, rank) as plan_id,
    arg_max(agent.agent_id, rank) as agent_id, arg_max(repetitions, rank) as repetitions,
    arg_max(conditions, rank) as conditions
from run_facts
semi join whole_plans using (plan_id)
where has_config
group by config_name, if(command = 'import', map_keys(conditions), null)
