-- One row per answer and metric: its score, the mean of its judgments, beside how many characters it has.
select m.place, m.judge, m.judge_id, m.metric, s.sample_id, avg(s.score) as score, any_value(length(r.text)) as length
from score_facts as s
join conditions as c using (condition_id, agent_id)
join metrics as m using (judge_id, metric)
join responses as r on r.position = s.answer
where s.score is not null and s.is_asked and c.current
group by m.place, m.judge, m.judge_id, m.metric, s.sample_id, s.response_id
order by m.place, s.sample_id, s.response_id
