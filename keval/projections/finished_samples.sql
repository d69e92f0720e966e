-- One row per condition, judge, metric and sample that is final there, in the order of a plan: place counts from 1. least and
-- greatest are its mean if all that was not measured had the scale's ends.
with question as (
    select distinct unnest(question_ids) as question_id, (part - 1) * size + generate_subscripts(question_ids, 1) as place
    from (
        -- All parts but the last are of one size.
        select part, question_ids, max(len(question_ids)) over () as size
        from declarations
        where plan_id = $plan_id and parts is not null
    )
),
asked as (
    select distinct question_id, sample_id from facts where agent_id = $agent_id and question_id is not null
)
select
    q.place, s.condition_id, s.judge_id, s.metric, s.mean, s.not_measured as missing, s.scored,
    s.failure_rate, s.tells_of_failures, s.scored + s.agent_failed + s.not_measured as expected,
    (coalesce(s.total, 0) + s.not_measured * m.min) / nullif(expected, 0) as least,
    (coalesce(s.total, 0) + s.not_measured * m.max) / nullif(expected, 0) as greatest
from question as q
join asked using (question_id)
join sample_means as s on s.sample_id = asked.sample_id and s.agent_id = $agent_id
join metrics as m on m.judge_id = s.judge_id and m.metric = s.metric
where s.scored + s.agent_failed + s.not_measured + s.not_applicable + s.not_sampled >= s.planned
order by q.place
