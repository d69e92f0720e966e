-- One row per response that counts, judge and metric: whether it passed, by the mean of the judge's judgments.
-- passed: what the judge says, of several judgments what most say; else whether the score is at least pass_from, which is
-- given, else that of the newest run that names the judge; null where neither says, and where the metric is not applicable.
-- pass_from: the score that decided, null where the judge did. threshold: the score from which a person's own passes.
with given as (
    select * from (values $given) as given(name, pass_from)
),
scored as (
    select
        answer, judge_id, metric,
        favg(score) as score, avg(passed::int) as share_passed, min(min) as min, max(max) as max,
        arg_min(not_applicable, position) filter (not_applicable is not null) as not_applicable,
        arg_min(outside, position) filter (outside is not null) as outside, max(position) as judged_at
    from score_facts
    group by answer, judge_id, metric
),
known as (
    select
        s.*, r.id as response_id, r.sample_id, r.repetition, r.condition_id, r.agent_id, r.position,
        c.condition, c.place, m.judge, m.place as series, t.pass_from as own_from, g.pass_from as given_from
    from scored as s
    join response_facts as r on r.position = s.answer
    join conditions as c using (condition_id, agent_id)
    join metrics as m using (judge_id, metric)
    left join thresholds as t using (judge_id, metric)
    left join given as g on g.name = s.judge_id || '/' || s.metric
    where r.planned and c.current
)
select
    response_id, sample_id, repetition, condition, condition_id, agent_id, judge, judge_id, metric,
    score, min, max, coalesce(given_from, if(share_passed is null, own_from, null)) as pass_from,
    coalesce(given_from, own_from) as threshold,
    not_applicable, outside, $passed as passed, position, judged_at, series
from known
