-- One row per condition and agent: how many of the planned tasks have a response, failed (by kind), or are not done.
-- planned and not_done are null when no run says what was planned.
with counted as (
    select
        c.condition, condition_id, agent_id, c.current, c.planned as asked_for,
        count(*) filter (t.planned) as tried,
        count(*) filter (not t.planned) as unplanned,
        count(t.sample_id) - count(t.failed) as completed,
        count(t.failed) as failed,
        coalesce(histogram(t.failed) filter (t.failed is not null), map()) as failed_by_kind
    from conditions as c
    left join tasks as t using (condition_id, agent_id)
    group by c.condition, condition_id, agent_id, c.current, c.planned
)
select
    condition, condition_id, agent_id, current,
    -- greatest() passes over nulls: of an unknown plan it would make a number.
    if(asked_for is null, null, greatest(asked_for, tried) + unplanned) as planned,
    completed, failed, failed_by_kind,
    if(asked_for is null, null, greatest(asked_for - tried, 0)) as not_done
from counted
