-- One row per judge and metric that was scored and by which nothing passes or fails.
select judge, metric
from ($verdicts)
group by series, judge, metric
having count(score) > 0 and count(passed) = 0
order by series
