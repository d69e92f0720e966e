-- One row per current condition of a log, under the name that tells it from those of other logs.
select
    condition || ' in ' || $label as condition, $log || ':' || condition_id as condition_id, '' as agent_id,
    condition as named, $number as log, true as current, has_clusters, failures, place + 1000000 * $number as place
from log_$number.conditions
where current
