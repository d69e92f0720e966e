-- One row per judge that was added and failed to judge current responses of which it has no judgment: its name, and how many.
select j.name, count(distinct r.position) as responses
from events as e
join current_judges as j using (judge_id)
join facts as r on r.type = 'response' and r.id = e.response_id and r.asked and r.planned
anti join (
    select answer as position, judge_id from facts where type = 'judgment' and same_answer and same_sample
) as judged on judged.position = r.position and judged.judge_id = e.judge_id
where e.type = 'failure' and e.stage = 'judge' and j.is_added
group by j.name
order by j.name
