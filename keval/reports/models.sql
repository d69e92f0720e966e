-- One row per model that really answered under a condition that is shown.
select distinct unnest(r.models) as model
from current_lines as r
semi join (from conditions where current) as c using (condition_id, agent_id)
where r.type = 'response' and len(r.models) > 0
order by model
