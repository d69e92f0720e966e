-- One row per judge and metric, those of judges first, in the order of the config. is_only: no other version has its name.
select judge_id, judge, metric, min, max, count(*) over (partition by judge || '/' || metric) = 1 as is_only
from metrics
order by place
