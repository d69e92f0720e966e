-- One row per condition and agent: how many of the planned tasks have a response, failed (by kind), or are not done.
-- planned and not_done are null when no run says what was planned.
with counted as (
    select
        condition_id, agent_id,
        count(*) filter (planned) as tried,
        count(*) filter (not planned) as unplanned,
        count(*) - count(failed) as completed,
        count(failed) as failed,
        histogram(failed) filter (failed is not null) as failed_by_kind
    from tasks
    group by condition_id, agent_id
),
known as (
    select
        c.condition, condition_id, agent_id, c.current, c.planned as asked_for,
        coalesce(t.tried, 0) as tried, coalesce(t.unplanned, 0) as unplanned,
        coalesce(t.completed, 0) as completed, coalesce(t.failed, 0) as failed,
        coalesce(t.failed_by_kind, map()) as failed_by_kind
    from conditions as c
    left join counted as t using (condition_id, agent_id)
)
select
    condition, condition_id, agent_id, current,
    -- greatest() passes over nulls: of an unknown plan it would make a number.
    if(asked_for is null, null, greatest(asked_for, tried) + unplanned) as planned,
    completed, failed, failed_by_kind,
    if(asked_for is null, null, greatest(asked_for - tried, 0)) as not_done
from known
