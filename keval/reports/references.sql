-- One row per reference, judge and metric, and one per judge that could not judge a reference: what came of it.
select
    v.sample_id, v.judge, v.metric, v.score, v.pass_from, v.passed, v.not_applicable,
    any_value(s.reasoning) as reasoning, null as failure, v.position, v.series
from ($verdicts) as v
join scores as s using (response_id, judge_id, metric)
group by all
union all
select
    f.sample_id, f.judge.name, null, null, null, false, null, f.message, f.kind, f.position, null
from failure_facts as f
where f.stage = 'judge' and f.current and f.planned is not false
order by position, series nulls last
