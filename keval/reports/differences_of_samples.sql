-- One row per two conditions that are compared, judge and metric: the samples by their differences, ascending, and those.
select
    judge_id, metric, condition, baseline,
    [each.sample_id for each in found] as samples,
    [each.difference for each in found] as differences
from (
    select
        judge_id, metric, condition, baseline,
        list({sample_id: sample_id, difference: if(result = 'tie', 0, difference)} order by difference, sample_id) as found
    from paired_samples
    where difference is not null
    group by all
)
order by judge_id, metric, condition, baseline
