-- One row per metric of a judge of pairs with a pair that lacks an answer because the agent failed, so that nobody was asked.
select distinct m.judge, m.metric, m.place
from sample_means as s
join metrics as m using (judge_id, metric)
semi join (from judge_baselines where of_pairs) using (judge_id)
where (s.won > 0 or s.agent_failed > 0) and m.computed is null and s.mean is not null
order by m.place
