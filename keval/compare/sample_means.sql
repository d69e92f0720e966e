-- One row per current condition of a log, judge, metric and sample, as in `sample_means`.
select * replace ($log || ':' || condition_id as condition_id, '' as agent_id)
from log_$number.sample_means
semi join (from log_$number.conditions where current) using (condition_id, agent_id)
