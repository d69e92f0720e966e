-- One row per judge of pairs and sample: of how many pairs of different answers the verdict depended on their order, and of
-- these in how many the answer that came first was preferred.
select
    m.place, m.judge, m.judge_id, m.metric, j.sample_id,
    count(*) as pairs, count(*) filter (dependent) as dependent,
    count(*) filter (dependent and first) as first, count(*) filter (dependent and second) as second
from (
    select
        judge_id, sample_id, condition_id, agent_id,
        try_cast(outcome ->> '$.order_dependent' as boolean) as dependent,
        outcome ->> '$.in_order[0]' = 'this' or outcome ->> '$.in_order[1]' = 'baseline' as first,
        outcome ->> '$.in_order[0]' = 'baseline' or outcome ->> '$.in_order[1]' = 'this' as second
    from judgments
    where current and judge.type = 'pairwise'
) as j
join conditions as c using (condition_id, agent_id)
join metrics as m using (judge_id)
where c.current and dependent is not null
group by m.place, m.judge, m.judge_id, m.metric, j.sample_id
order by m.place, j.sample_id
