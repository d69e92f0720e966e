-- One row per event that tells of a task of which other events tell, too, as in logs in which several configs ask one sample
-- differently: the number of the task. is_planned: it is the task's response, or one of them, and is planned itself.
select p.position, t.task, coalesce(bool_or(p.status is not null and p.planned), false) as is_planned
from task_parts as p
join (from tasks where parts > 1) as t using (condition_id, agent_id, sample_id, repetition)
group by p.position, t.task
