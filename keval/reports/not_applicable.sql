-- One row per judge and metric that was not applicable to answers of conditions that are shown, with how many, and why.
select
    m.judge, m.metric, count(distinct s.response_id) as answers,
    arg_min(s.not_applicable, s.position) as reason
from score_facts as s
join conditions as c using (condition_id, agent_id)
join metrics as m using (judge_id, metric)
where c.current and s.not_applicable is not null
group by m.judge, m.metric, m.place
order by m.place
