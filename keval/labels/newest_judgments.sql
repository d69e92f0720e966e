-- One row per judge and metric of a response of these ids: the id and the time of its last judgment that counts.
select s.response_id, s.judge_id, s.metric, arg_max(f.id || ' ' || f.time, s.position) as judgment
from score_facts as s
join facts as f using (position)
where s.response_id in ($ids)
group by s.response_id, s.judge_id, s.metric
