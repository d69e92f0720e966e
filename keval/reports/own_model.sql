-- One row per judge, metric and sample: how much more than other raters the judge gives answers of its own model, minus how
-- much more it gives answers of other models. Other raters are judges of other models, and people, by the same metric and
-- scale; without them, a good model could not be told from a favoured one. Judges of pairs compare an answer with the same other one,
-- and what was given without asking anybody is not theirs.
-- own, others: how many models of answers of each kind the judge scored; difference is null without both, or without another
-- rater.
with judge as (
    select judge_id, arg_max(judge.model, position) as model from judgment_facts where judge.model is not null group by judge_id
),
score as (
    select
        m.place, s.judge_id, m.judge, s.metric, m.min, m.max, s.sample_id, s.response_id, s.other_response_id as other, j.model,
        r.models as answered_by, avg(s.score) as score
    from score_facts as s
    join conditions as c using (condition_id, agent_id)
    join metrics as m using (judge_id, metric)
    join response_facts as r on r.position = s.answer
    left join judge as j using (judge_id)
    where s.score is not null and s.is_asked and c.current and len(r.models) > 0
    group by all
),
by_others as (
    select a.judge_id, a.metric, a.response_id, a.other, avg(b.score) as score
    from score as a
    join (
        select response_id, metric, min, max, model, score, other, false as is_person from score
        union all
        select p.response_id, p.metric, s.min, s.max, null, p.score, null, true
        from session.people_scores as p
        join (select distinct response_id, metric, min, max from score) as s using (response_id, metric)
        where p.score between s.min and s.max
    ) as b using (response_id, metric, min, max)
    where a.model is not null and b.model is distinct from a.model and not list_contains(a.answered_by, b.model) is true
        and (b.is_person or b.other is not distinct from a.other)
    group by a.judge_id, a.metric, a.response_id, a.other
),
of_sample as (
    select
        s.place, s.judge, s.judge_id, s.metric, s.sample_id,
        avg(s.score - o.score) filter (list_contains(s.answered_by, s.model)) as of_own,
        avg(s.score - o.score) filter (not list_contains(s.answered_by, s.model)) as of_others,
        bool_or(list_contains(s.answered_by, s.model)) as has_own,
        bool_or(not list_contains(s.answered_by, s.model)) as has_others,
        count(o.score) > 0 as has_raters
    from score as s
    left join by_others as o
        on o.judge_id = s.judge_id and o.metric = s.metric and o.response_id = s.response_id and o.other is not distinct from s.other
    where s.model is not null
    group by s.place, s.judge, s.judge_id, s.metric, s.sample_id
)
select
    place, any_value(judge) as judge, judge_id, metric, bool_or(has_own) as has_own, bool_or(has_others) as has_others,
    bool_or(has_raters) as has_raters, count(of_own - of_others) as samples,
    avg(of_own - of_others) as difference, stddev_samp(of_own - of_others) / sqrt(count(of_own - of_others)) as se
from of_sample
group by place, judge_id, metric
order by place
