-- One row per two conditions that are compared, judge and metric: the samples with their differences, ascending.
select
    judge_id, metric, condition, baseline,
    list({sample_id: sample_id, difference: if(result = 'tie', 0, difference)} order by difference, sample_id) as samples
from paired_samples
where difference is not null
group by all
order by all
