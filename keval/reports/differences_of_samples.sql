-- One row per two conditions that are compared, judge and metric: how many samples have each difference, ascending; and of $most
-- samples at most the names by their differences, and these. See means_of_samples.
with sample as (
    select judge_id, metric, condition, baseline, sample_id, if(result = 'tie', 0, difference) as difference
    from paired_samples
    where difference is not null
),
value as (
    select judge_id, metric, condition, baseline, difference, count(*) as samples from sample group by all
),
pair as (
    select
        judge_id, metric, condition, baseline,
        list(difference order by difference) as differences, list(samples order by difference) as samples,
        sum(samples) <= $most as are_few
    from value
    group by judge_id, metric, condition, baseline
),
named as (
    select
        judge_id, metric, condition, baseline,
        list(sample_id order by difference, sample_id) as names,
        list(difference order by difference, sample_id) as named_differences
    from sample
    semi join (from pair where are_few) using (judge_id, metric, condition, baseline)
    group by judge_id, metric, condition, baseline
)
select
    judge_id, metric, condition, baseline, differences, samples,
    coalesce(names, []) as names, coalesce(named_differences, []) as named_differences
from pair
left join named using (judge_id, metric, condition, baseline)
order by judge_id, metric, condition, baseline
