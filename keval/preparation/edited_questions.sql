-- One row per sample of the config whose question is not the one that was answered before: its place in the dataset.
select place
from questions_before as b
join config_samples as s using (place)
where b.question_id <> s.question_id
order by place
