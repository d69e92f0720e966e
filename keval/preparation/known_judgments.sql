-- One row per judgment by the judges in `judging`, of the config's conditions, whose response is asked for again: its id, in
-- order. It need not be made again if the same answer comes back.
select j.id
from ($judgments) as j
semi join own_conditions using (condition_id)
where j.judge_id in (select judge_id from judging) and j.agent_id = $agent_id and j.same_sample
    and ($fresh or j.answer not in (select position from answered_tasks))
order by j.id
