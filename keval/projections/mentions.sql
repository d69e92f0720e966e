-- One row per condition, by its name and its ids, and judge that responses, judgments and failures which count tell of: the
-- position of the last of them, and whether one of them is current. judge_id is null for what no judge says.
select
    condition, condition_id, agent_id, judge_id, max(position) as position,
    bool_or(position not in (select position from standing where not coalesce(current, false))) as current
from events
where type in ('response', 'judgment', 'failure') and position not in (select position from standing where not counts)
group by condition, condition_id, agent_id, judge_id
