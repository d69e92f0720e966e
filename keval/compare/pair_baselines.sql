-- One row per judge of pairs, condition and agent with whose answers it compared.
select distinct judged.judge_id, compared.condition_id, compared.agent_id
from $facts as judged
join $facts as compared on compared.id = judged.other_response_id and compared.type = 'response'
where judged.type = 'judgment' and judged.current
