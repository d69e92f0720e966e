-- One row per response or failure whose agent left processes behind in any attempt, which keval then ended; with
-- their names.
select
    log, e.run_id, c.condition, e.condition_id, e.agent_id, e.type, e.id,
    list_concat(
        flatten(list_transform(
            e.failed_attempts, lambda attempt: attempt.orphaned_processes
        )),
        e.orphaned_processes
    ) as processes
from events as e
join files using (file)
join conditions as c using (condition_id, agent_id)
where e.type in ('response', 'failure')
    and (len(e.failed_attempts) > 0 or len(e.orphaned_processes) > 0)
    and len(processes) > 0
    and e.position not in (select position from standing where not counts)
