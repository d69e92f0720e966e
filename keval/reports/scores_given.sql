-- One row per condition, agent, judge, metric and score that an answer has: how many answers have it.
select m.judge_id, m.metric, o.condition_id, o.agent_id, o.score, count(*) as answers
from outcomes as o
join metrics as m on m.place = o.series
where o.state = 'scored'
group by all
order by all
