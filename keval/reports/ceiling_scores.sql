-- One row per metric and sample: the share of its scores at the upper end of the scale, and how many there are.
select
    m.place, m.judge, m.judge_id, m.metric, s.sample_id,
    avg((s.score >= m.max - 1e-9)::int) as share, count(*) as scores
from score_facts as s
join conditions as c using (condition_id, agent_id)
join metrics as m using (judge_id, metric)
where s.score is not null and s.is_asked and c.current
group by m.place, m.judge, m.judge_id, m.metric, s.sample_id
order by m.place, s.sample_id
