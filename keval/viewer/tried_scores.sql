-- One row per current condition and sample: its mean by one metric, its largest absolute value, and the kinds of failure.
select sample_id, condition, mean, largest, kinds
from sample_scores
where current and judge_id = $judge and metric = $metric
