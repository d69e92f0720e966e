-- One row per model that really answered under a condition that is shown.
select distinct unnest(r.models) as model
from response_facts as r
semi join missing as m on m.condition_id = r.condition_id and m.agent_id = r.agent_id and m.current
where r.current
order by model
