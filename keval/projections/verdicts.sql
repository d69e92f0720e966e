-- One row per response that counts, judge and metric: whether it passed, by the mean of the judge's judgments.
-- passed: what the judge says, of several judgments what most say; else whether the score is at least pass_from, which is
-- given, else that of the newest run that names the judge; null where neither says, and where the metric is not applicable.
-- pass_from: the score that decided, null where the judge did. threshold: the score from which a person's own passes.
with given as (
    select * from (values $given) as given(name, pass_from)
),
threshold as (
    $thresholds
),
scored as (
    select
        response_id, answer, judge_id, metric,
        avg(score) as score, avg(passed::int) as share_passed, min(min) as min, max(max) as max,
        any_value(not_applicable) as not_applicable, any_value(outside) as outside, max(position) as position
    from score_facts
    group by response_id, answer, judge_id, metric
)
select
    s.response_id, r.sample_id, r.repetition, c.condition, r.condition_id, r.agent_id, m.judge, s.judge_id, s.metric,
    s.score, s.min, s.max, coalesce(g.pass_from, if(share_passed is null, t.pass_from, null)) as pass_from,
    coalesce(g.pass_from, t.pass_from) as threshold,
    s.not_applicable, s.outside,
    case
        when s.score is null then null
        when g.pass_from is not null then s.score >= g.pass_from - 1e-6
        when share_passed is not null then share_passed > 0.5
        else s.score >= t.pass_from - 1e-6
    end as passed,
    r.position, s.position as judged_at, m.place as series
from scored as s
join response_facts as r on r.position = s.answer
join conditions as c using (condition_id, agent_id)
join metrics as m using (judge_id, metric)
left join threshold as t using (judge_id, metric)
left join given as g on g.name = s.judge_id || '/' || s.metric
where r.planned and c.current
order by c.place, r.position, m.place
