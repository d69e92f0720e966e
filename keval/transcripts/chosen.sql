-- One row per task that the user asks for, as `answers` has it; place is its place in what is shown.
-- An id means the event that it belongs to, current or not; without one, only what is current is shown.
with ranked as (
    select a.*, $place as rank
    from ($answers) as a
    $joined
    where if(
        $id is null,
        a.current,
        starts_with(a.id, $id) or starts_with(a.response_id, $id)
            or a.response_id in (select response_id from facts where starts_with(id, $id))
    )
        and (len($conditions) = 0 or a.condition in $conditions or regexp_full_match(a.condition, $condition_patterns))
        and ($repetition is null or a.repetition = $repetition)
        and (not $answered or a.type <> 'failure')
        and (not $unverified or a.response_id in (
            select response_id
            from current_lines
            where $unverified and type = 'judgment' and len(unverified_claims) > 0
        ))
        and (not $failed or a.type = 'failure' or exists (
            select 1 from failure_facts as f
            where f.stage = 'judge' and f.current and f.response_id = a.response_id
        ))
),
first_place as (
    -- Beside the answers rather than in them: a window over these would keep each with all its columns in memory.
    select sample_id, min(position) as sample_place from ($answers) group by sample_id
),
shown as (
    -- Limited before it is numbered: so DuckDB keeps only as many rows as are shown.
    select *
    from ranked
    join first_place using (sample_id)
    order by rank nulls last, sample_place, place, repetition, position
    limit $most
)
select * exclude (place, rank, sample_place), row_number() over (
    order by rank nulls last, sample_place, place, repetition, position
) as place
from shown
order by place
