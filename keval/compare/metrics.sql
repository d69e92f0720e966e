-- One row per judge and metric that each log has, in the order of the first one.
select judge_id, metric, any_value(judge) as judge, min(min) as min, max(max) as max, any_value(computed) as computed,
    min(place) as place
from ($metrics)
group by judge_id, metric
