-- One row per sample and condition, by its newest name, that the log has answers of.
select distinct f.sample_id, coalesce(c.condition, f.condition) as condition
from facts as f
left join (
    select condition_id, arg_max(condition, rank) as condition from config_conditions group by condition_id
) as c using (condition_id)
where f.type = 'response'
