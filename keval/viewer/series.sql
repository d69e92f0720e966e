-- One row per judge and metric, those of judges first, in the order of the config.
select judge_id, judge, metric, min, max
from metrics
order by place
