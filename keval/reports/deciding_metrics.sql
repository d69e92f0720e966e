-- One row per judge and metric that was scored, and whether anything passes or fails by it.
select judge, judge_id, metric, count(passed) > 0 as decides
from ($verdicts)
group by series, judge, judge_id, metric
having count(score) > 0
order by series
