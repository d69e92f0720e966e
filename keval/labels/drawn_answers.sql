-- One row per metric of each answer that is drawn, in an order that says nothing of where the answer comes from.
with quota as (
    select * from (values $quotas) as quota(condition_id, agent_id, answers)
)
select
    d.response_id, d.sample_id, d.judge, d.judge_id, d.metric, d.score, d.min, d.max, d.pass_from, d.passed,
    null as reasoning, d.line_offset, n.line_offset as record_offset
from ($judged) as d
join quota as q using (condition_id, agent_id)
left join newest_samples as n on n.sample_id = d.sample_id
where d.place <= q.answers
order by d.draw, d.series
