-- One row per line that tells of one sample's tasks, as `lines` has it, or of one answer or failure of it, by its id. It is found
-- by the sample alone, which takes as long in a log of a million answers as it takes to look through one column.
with here as materialized (
    from facts where sample_id = $sample
),
task as (
    select
        c.condition, h.type, h.id, coalesce(h.response_id, h.id) as response_id, h.file, h.line_offset, h.position, h.current,
        h.type = 'failure' and h.has_sample as asks_anew,
        row_number() over (order by c.place, h.repetition, h.position) as place
    from here as h
    join conditions as c using (condition_id, agent_id)
    where (
            h.type = 'response'
            or (h.type = 'failure' and h.stage = 'generate')
            or (h.type = 'judgment' and not h.has_response and h.position = h.answer)
        )
        and if($id is null, h.current, $id in (h.id, h.response_id))
),
told as (
    select place, 1 as part, 'sample' as kind, record.*, '' as judge_name
    from (
        select
            place,
            if(asks_anew and task.position > n.position, {file: task.file, line_offset: task.line_offset, position: task.position},
                {file: n.file, line_offset: n.line_offset, position: n.position}) as record
        from task, (from newest_samples where sample_id = $sample) as n
    )
    union all
    select place, 2, type, file, line_offset, position, ''
    from task where type <> 'judgment'
    union all
    select place, 3, 'judgment', h.file, h.line_offset, h.position, h.judge.name
    from task join here as h using (response_id)
    where h.type = 'judgment' and h.same_answer and h.same_sample and (h.current or not task.current)
    union all
    select place, 4, 'judge_failure', h.file, h.line_offset, h.position, h.judge.name
    from task join here as h using (response_id)
    where h.type = 'failure' and h.stage = 'judge' and (h.current or not task.current)
    union all
    select place, 5, 'label', l.file, l.line_offset, l.position, ''
    from task join label_facts as l using (response_id)
    where l.current
)
select told.*, task.condition, task.response_id
from told
join task using (place)
order by place, part, judge_name, position
