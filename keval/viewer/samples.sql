-- One row per sample that was tried under a condition, or under the baseline beside it: its means, and the kinds of failure.
with listed as (
    select
        sample_id,
        any_value(mean) filter (condition = $condition) as score,
        any_value(mean) filter (condition = $baseline) as baseline_score,
        -- As exact as what it is the difference of, and none where it is float noise beside the values: see paired_samples.
        if(
            abs(score - baseline_score) <= $noise * max(largest),
            0,
            round(score - baseline_score, 12 - floor(log10(greatest(max(largest), 1e-290)))::int)
        ) as difference,
        coalesce(list_sort(list_distinct(flatten(list(kinds) filter (condition = $condition)))), []) as failed,
        coalesce(list_sort(list_distinct(flatten(list(kinds) filter (condition = $baseline)))), []) as baseline_failed
    from (
        $tried
    )
    where condition in ($condition, $baseline)
    group by sample_id
)
select *
from listed
where $filters
order by $order
