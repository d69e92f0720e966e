-- One row per sample that was tried under a condition, or under the baseline beside it: its means, and the kinds of failure.
with listed as (
    select
        sample_id,
        any_value(mean) filter (condition = $condition) as score,
        any_value(mean) filter (condition = $baseline) as baseline_score,
        -- None where it is float noise beside the values, which is a tie in paired_samples.
        if(
            abs(score - baseline_score) <= $noise * max(largest),
            0,
            session.mean_difference(score, baseline_score, max(largest))
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
