-- One row per judge and metric, those of judges first, in the order of the config. name: what no other one is called.
select
    judge_id, judge, metric, min, max,
    if(
        count(*) over (partition by judge || '/' || metric) > 1, judge || ', version ' || left(judge_id, 8), judge
    ) || '/' || metric as name
from metrics
order by place
