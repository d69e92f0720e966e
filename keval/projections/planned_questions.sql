-- One row per condition, agent and question that is planned: how often it is to be asked. Without a plan in the log there
-- is no row, and all that is in the log counts.
with question as (
    select distinct plan_id, unnest(question_ids) as question_id
    from events
    semi join latest using (position)
    semi join plans using (plan_id)
    where type = 'plan'
)
select condition_id, agent_id, question_id, max(repetitions) as repetitions
from planned_conditions
join question using (plan_id)
group by condition_id, agent_id, question_id
