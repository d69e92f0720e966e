-- One row per condition, by its name and its ids, and judge that responses, judgments and failures which count tell of: the
-- position of the last of them, and whether one of them is current. judge_id is null for what no judge says.
select condition, condition_id, agent_id, judge_id, max(position) as position, coalesce(bool_or(current), false) as current
from facts
where type in ('response', 'judgment', 'failure')
group by condition, condition_id, agent_id, judge_id
