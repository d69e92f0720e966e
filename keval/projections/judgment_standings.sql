-- One row per judgment that counts as the last of its id and whose response was not retracted.
-- answer: the position of its response; of one whose response the log never held (a log cut with grep), that of the first
-- judgment of the same response by a judge that counts.
-- strays: its response is about another sample, which keval never writes.
-- planned: the newest plan has its response; without the response, its condition and repetition.
-- same_answer: it judged the present text; of a pair both texts, the other one of a response that is current too.
-- same_sample: it was given what it would be given of the sample now; wherever in the log it stands: a judgment may have
-- been begun before what it is about changed.
-- as_now: by a judge that the newest run, or import of the condition, still has, in the share that it judges now; of a pair,
-- with the baseline that the judge compares with now.
-- current: all three, of a response that is current.
with response as (
    select
        r.position, r.id, r.sample_id, r.condition_id, r.agent_id, r.repetition, r.answer_sha256,
        coalesce(s.asked, true) as asked, coalesce(s.planned, true) as planned
    from latest as r
    left join partly_planned as s using (position)
    where r.type = 'response'
),
judgment as (
    select
        j.position, j.response_id, j.condition_id, j.agent_id, j.repetition,
        j.judge_id not in (from replaced_judges)
            and i.judge_id is null
            and if(o.condition_id is null, e.judge_id is null, coalesce(list_contains(b.baselines, o.condition_id), true))
            and session.in_share(d.seed, d.below, j.repetition, j.sample_id)
            as as_now,
        r.position as answer, r.planned, coalesce(j.sample_id <> r.sample_id, false) as strays,
        coalesce(r.asked, true) as asked,
        coalesce(r.answer_sha256 = j.answer_sha256, true) and coalesce(
            o.answer_sha256 = j.other_answer_sha256 and o.asked and (o.planned or $everything), true
        ) as same_answer
    from latest as j
    left join response as r on r.id = j.response_id
    left join sampling as d on d.judge_id = j.judge_id
    left join judges_of_earlier_imports as i on i.judge_id = j.judge_id and i.condition_id = j.condition_id
    left join (
        select * from response
        where id in (select other_response_id from events where other_response_id is not null)
    ) as o on o.id = j.other_response_id
    left join (
        select judge_id, condition_id, list(baseline_id) as baselines from judge_baselines group by judge_id, condition_id
    ) as b on b.judge_id = j.judge_id and b.condition_id = j.condition_id and j.other_response_id is not null
    -- A log cut with grep may lack the other response; if it has the baseline's, that was another one.
    left join (
        select distinct p.judge_id, p.condition_id, r.agent_id, r.sample_id, r.repetition
        from judge_baselines as p
        join response as r on r.condition_id = p.baseline_id
        where p.of_pairs
    ) as e
        on e.judge_id = j.judge_id and e.condition_id = j.condition_id and e.agent_id = j.agent_id
        and e.sample_id = j.sample_id and e.repetition = j.repetition and j.other_response_id is not null
    where j.type = 'judgment'
        and (j.other_response_id is null or o.id is not null or j.other_response_id not in (select id from retracted))
),
known as (
    select position, answer, true as has_response, strays, planned, asked, same_answer, as_now
    from judgment
    where answer is not null
    union all
    select
        j.position,
        coalesce(min(j.position) filter (as_now) over of_answer, min(j.position) over of_answer), false, false,
        not exists (from plans) or coalesce(j.repetition <= p.repetitions, false), asked, same_answer, as_now
    from judgment as j
    left join condition_repetitions as p using (condition_id, agent_id)
    anti join retracted as gone on gone.id = j.response_id
    where answer is null
    window of_answer as (partition by response_id)
)
select
    position, answer, has_response, strays, planned, same_answer, same_sample,
    asked and same_answer and same_sample and as_now and (planned or $everything) as current
from (select *, position not in (from outdated_judgments) as same_sample from known)
