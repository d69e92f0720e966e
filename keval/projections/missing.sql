-- One row per condition and agent: how many of the planned tasks have a response, failed (by kind), or are not done.
-- planned and not_done are null when no run says what was planned.
select
    c.condition, c.condition_id, c.agent_id, c.current, c.planned,
    count(t.sample_id) - count(t.failed) as completed,
    count(t.failed) as failed,
    coalesce(histogram(t.failed) filter (t.failed is not null), map()) as failed_by_kind,
    -- greatest() alone would make 0 of an unknown plan: it passes over nulls.
    if(c.planned is null, null, greatest(c.planned - count(t.sample_id), 0)) as not_done
from conditions as c
left join tasks as t using (condition_id, agent_id)
group by c.condition, c.condition_id, c.agent_id, c.current, c.planned
