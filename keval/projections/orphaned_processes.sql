-- One row per response or failure whose agent left processes behind in any attempt, which keval then ended; with
-- their names.
select
    e.log, e.run_id, c.condition, e.condition_id, e.agent_id, e.type, e.id,
    list_concat(
        flatten(list_transform(
            e.failed_attempts, lambda attempt: attempt.orphaned_processes
        )),
        try_cast(e.orphaned_processes as varchar[])
    ) as processes
from events as e
semi join latest using (position)
join conditions as c using (condition_id, agent_id)
where e.type in ('response', 'failure') and len(processes) > 0
