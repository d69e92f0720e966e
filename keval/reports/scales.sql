-- One row per judge and metric, with the metric's scale. What is computed from others decides nothing.
select judge, judge_id, metric, min, max from metrics where computed is null order by place
