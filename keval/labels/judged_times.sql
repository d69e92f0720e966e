-- One row per judge and metric of a response of these ids: when it was judged last, of the judgments that count.
select s.response_id, s.judge_id, s.metric, arg_max(f.time, s.position) as judged_at
from score_facts as s
join facts as f using (position)
where s.response_id in ($ids)
group by s.response_id, s.judge_id, s.metric
