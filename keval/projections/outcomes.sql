-- One row per task, judge and metric, in exactly one state: scored, not_applicable, agent_failed, not_measured, or not_done
-- (there is a response and no judgment yet). Tasks that were planned and never tried have no row.
-- value is what counts in the headline: the score, the scale's minimum for a failure that counts as such, else null.
-- planned: the newest plan has the task.
with judged as (
    select condition_id, agent_id, judge_id, metric, sample_id, repetition,
        avg(score) as score, count(score) as n_responses, sum(n_judgments)::bigint as n_judgments, bool_or(mock) as mock
    from response_scores
    group by all
),
judge_failed as (
    select condition_id, agent_id, judge_id, sample_id, repetition,
        arg_max(kind, position) as kind, bool_or(mock) as mock
    from failure_facts
    where stage = 'judge' and current
    group by all
),
known as (
    select
        condition_id, agent_id, judge_id, metric, sample_id, repetition,
        t.planned,
        s.score,
        coalesce(s.n_responses, 0) as n_responses,
        coalesce(s.n_judgments, 0) as n_judgments,
        case
            when s.score is not null then 'scored'
            when s.mock is not null then 'not_applicable'
            when coalesce(of_task.counts_as, of_judge.counts_as) = 'minimum' then 'agent_failed'
            when t.failed is not null or j.kind is not null then 'not_measured'
            else 'not_done'
        end as state,
        if(s.mock is null, coalesce(t.failed, j.kind), null) as kind,
        t.mock or coalesce(s.mock, j.mock, false) as mock
    from tasks as t
    join series using (condition_id, agent_id)
    left join judged as s using (condition_id, agent_id, judge_id, metric, sample_id, repetition)
    left join judge_failed as j using (condition_id, agent_id, judge_id, sample_id, repetition)
    left join failure_kinds as of_task on of_task.kind = t.failed and of_task.stage = 'generate'
    left join failure_kinds as of_judge on of_judge.kind = j.kind and of_judge.stage = 'judge' and t.failed is null
)
select known.*, case state when 'scored' then score when 'agent_failed' then min end as value
from known
join metrics using (judge_id, metric)
