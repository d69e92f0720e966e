-- One row per condition with how many answers were judged.
select condition_id, agent_id, count(distinct response_id) as answers
from ($judged)
group by condition_id, agent_id
order by condition_id, agent_id
