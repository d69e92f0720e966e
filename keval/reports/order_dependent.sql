-- One row per judge of pairs: how many pairs of different answers it compared, and how often the order decided.
select
    judge.name as judge, judge_id,
    count(order_dependent) as compared, count(*) filter (order_dependent) as order_dependent
from current_lines
where type = 'judgment' and judge.type = 'pairwise'
group by judge.name, judge_id
having count(*) filter (order_dependent) > 0
order by judge.name, judge_id
