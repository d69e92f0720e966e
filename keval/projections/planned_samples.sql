-- Part of pair_bounds: one row per condition and agent, and sample that was tried under one condition of a pair only, if it is
-- planned there, too. Without a plan all are asked the same.
select distinct q.condition_id, q.agent_id, e.sample_id
from planned_questions as q
join events as e using (question_id)
where e.sample_id in (select sample_id from sample where is_untried or is_baseline_untried)
union all
select c.condition_id, c.agent_id, s.sample_id
from conditions as c, (select distinct sample_id from sample where is_untried or is_baseline_untried) as s
where c.planned_samples is not null and not exists (from plans)
