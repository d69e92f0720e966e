-- One row per current condition of a log, judge and metric: how many samples it planned and never tried.
select $log || ':' || condition_id as condition_id, '' as agent_id, judge_id, metric, untried
from log_$number.condition_means
semi join (from log_$number.conditions where current) using (condition_id, agent_id)
