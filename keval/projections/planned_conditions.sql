-- One row per config name and condition that its newest plan has: with which agent, how often, and which plan lists the
-- questions. The same condition may stand in the plans of several configs.
select config_name, position, unnest(map_values(conditions)).condition_id as condition_id, agent_id, repetitions, plan_id
from plans
