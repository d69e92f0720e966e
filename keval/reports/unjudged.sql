-- One row per condition and agent with answers that no judge scored or failed to score.
select condition_id, agent_id, count(*) as count
from response_facts as r
anti join (select response_id from judgment_facts where current) as j on j.response_id = r.id
anti join (select response_id from failure_facts where current and stage = 'judge') as f on f.response_id = r.id
where current
group by condition_id, agent_id
