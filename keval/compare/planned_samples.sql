-- One row per current condition of a log and sample that any of the logs has a record of, if it is planned there.
select $log || ':' || p.condition_id as condition_id, '' as agent_id, s.sample_id
from log_$number.planned_questions as p
join known_questions as s using (question_id)
semi join (from log_$number.conditions where current) using (condition_id, agent_id)
union
select $log || ':' || c.condition_id, '', s.sample_id
from log_$number.conditions as c, known_questions as s
where c.current and c.planned_samples is not null and not exists (from log_$number.plans)
