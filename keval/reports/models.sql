-- One row per model that really answered under a condition that is shown.
select distinct unnest(m.models) as model
from answering_models as m
semi join (from conditions where current) as c using (condition_id, agent_id)
where len(m.models) > 0
order by model
