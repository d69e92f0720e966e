-- One row per response or failure whose agent left processes behind, which keval then ended; with their names.
-- The field is read from the files when it is asked for: few lines have it. Lines are numbered as in `events`.
select c.condition, condition_id, agent_id, e.type, e.id, try_cast(e.leaked_processes as varchar[]) as processes
from (
    select row_number() over () as position, *
    from read_json(
        $files,
        format = 'newline_delimited',
        compression = 'uncompressed',
        hive_partitioning = false,
        maximum_object_size = $longest_line,
        columns = {
            type: 'VARCHAR', id: 'VARCHAR', condition_id: 'VARCHAR', agent_id: 'VARCHAR', leaked_processes: 'JSON'
        }
    )
) as e
semi join latest using (position)
join conditions as c using (condition_id, agent_id)
where e.type in ('response', 'failure') and len(processes) > 0
