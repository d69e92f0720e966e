-- One row per task, judge and metric, in exactly one state: scored, agent_failed, not_measured, or not_done (there is
-- a response and no judgment yet). Tasks that were planned and never tried have no row.
-- value is what counts in the headline: the score, the scale's minimum for a failure of the agent, else null.
with scored as (
    select condition_id, agent_id, judge_id, metric, sample_id, repetition,
        avg(score) as score, count(*) as n_responses, sum(n_judgments)::bigint as n_judgments, bool_or(mock) as mock
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
cell as (
    select
        m.condition, m.condition_id, m.agent_id, m.judge, m.judge_id, m.metric, m.min, m.max,
        t.sample_id, t.repetition,
        s.score,
        coalesce(s.n_responses, 0) as n_responses,
        coalesce(s.n_judgments, 0) as n_judgments,
        case
            when s.score is not null then 'scored'
            when t.failed in ('timeout', 'agent_error', 'mcp_failed', 'mcp_unused', 'mcp_all_failed')
                then 'agent_failed'
            when t.failed is null and j.kind = 'code_refused' then 'agent_failed'
            when t.failed is not null or j.kind is not null then 'not_measured'
            else 'not_done'
        end as state,
        if(s.score is null, coalesce(t.failed, j.kind), null) as kind,
        t.mock or coalesce(s.mock, j.mock, false) as mock
    from tasks as t
    join series as m using (condition_id, agent_id)
    left join scored as s using (condition_id, agent_id, judge_id, metric, sample_id, repetition)
    left join judge_failed as j using (condition_id, agent_id, judge_id, sample_id, repetition)
)
select *, case state when 'scored' then score when 'agent_failed' then min end as value
from cell
