-- One row per condition, agent and question that is planned: how often it is to be asked. What a run did not ask for
-- because it was decided is planned no more. Without a plan in the log there
-- is no row, and all that is in the log counts.
with question as (
    select distinct plan_id, unnest(question_ids) as question_id,
        (part - 1) * size + generate_subscripts(question_ids, 1) as place
    from (
        -- All parts but the last are of one size.
        select plan_id, part, question_ids, max(len(question_ids)) over (partition by plan_id) as size
        from declarations
        anti join (from event_versions where not counts) using (position)
        semi join plans using (plan_id)
        where parts is not null
    )
)
select condition_id, agent_id, question_id, max(repetitions) as repetitions
from planned_conditions
join question using (plan_id)
left join stopped_conditions using (config_name, plan_id, agent_id, condition_id)
where place <= coalesce(asked, place)
group by condition_id, agent_id, question_id
