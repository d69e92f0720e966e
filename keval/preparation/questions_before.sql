-- One row per sample of the config that was asked before: its place in the dataset, and the question that its last
-- response answers. What the mock made is none to a real run.
select n.place, arg_max(e.question_id, e.position) as question_id
from events as e
join config_samples as n using (sample_id)
where e.type = 'response' and ($mock or not coalesce(e.mock, false))
group by n.place
