-- One row per metric of a judge that a run names: from which score an answer passes, by the newest of them; null if it says none.
select judge_id, metric.name as metric, arg_max({newest: metric.pass_from}, rank).newest as pass_from
from (
    select rank, judge.judge_id as judge_id, unnest(judge.metrics) as metric
    from (select rank, unnest(judges) as judge from run_facts)
)
group by judge_id, metric.name
