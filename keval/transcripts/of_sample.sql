-- One row per line that tells of one sample's tasks, as `lines` has it, or of one answer or failure of it, by its id. It is found
-- by the sample alone, which takes as long in a log of a million answers as it takes to look through one column.
with here as materialized (
    $here
),
chosen as (
    select
        c.condition, h.sample_id, h.type, h.id, coalesce(h.response_id, h.id) as response_id, h.file, h.line_offset, h.position, h.current,
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
$told
