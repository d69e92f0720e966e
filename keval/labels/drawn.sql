-- One row per verdict that is drawn, in an order that says nothing of where it comes from.
with quota as (
    select * from (values $quotas) as quota(condition_id, agent_id, series, passed, "by", verdicts)
),
drawn as (
    select s.*
    from ($strata) as s
    join quota as q on q.condition_id = s.condition_id and q.agent_id = s.agent_id and q.series = s.series
        and q.passed = s.passed and q."by" = s."by"
    where s.place <= q.verdicts
)
select
    d.response_id, d.sample_id, d.judge, d.judge_id, d.metric, d.score, d.min, d.max, d.pass_from, d.passed,
    any_value(c.reasoning) as reasoning, any_value(j.id || ' ' || j.time) as judgment, d.line_offset, n.line_offset as record_offset, d.draw
from drawn as d
left join scores as c using (response_id, judge_id, metric)
left join facts as j on j.position = d.judged_at
left join newest_samples as n on n.sample_id = d.sample_id
group by all
order by d.draw
