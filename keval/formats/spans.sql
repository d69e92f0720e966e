-- One row per current answer, and per failure of an agent that is open, in the order of the log: what was asked, what came of it,
-- and the scores of an answer as JSON. passed: what the judge says, else whether the score is at least its pass_from.
with asked as (
    select
        position, id, time, run_id, agent.name as agent_name, agent.model as model, agent_id,
        sample -> '$.question' as question, sample_id, condition, condition_id, repetition,
        status, text, turns, usage, cost_usd, duration_ms, models, mock, null as kind, null as message
    from responses
    where current
    union all by name
    select
        position, id, time, run_id, a.name as agent_name, a.model, agent_id,
        sample -> '$.question' as question, sample_id, condition, condition_id, repetition,
        turns, usage, cost_usd, duration_ms, mock, kind, message
    from failures
    left join (
        select agent.agent_id as agent_id, any_value(agent.name) as name, any_value(agent.model) as model
        from runs
        group by all
    ) as a using (agent_id)
    left join (select sample_id, sample_sha256, sample from samples) using (sample_id, sample_sha256)
    where current and stage = 'generate'
)
select
    asked.*,
    coalesce(s.scores, '[]') as scores
from asked
left join (
    select
        response_id,
        to_json(list(
            {
                judge: judge, metric: metric, score: score, reasoning: reasoning, time: j.time, judgment_id: judgment_id,
                passed: coalesce(passed, score >= pass_from - 1e-6)
            }
            order by s.position, metric
        ))::varchar as scores
    from scores as s
    join (select id as judgment_id, time from judgments) as j using (judgment_id)
    left join (select response_id, judge_id, metric, pass_from from ($verdicts)) using (response_id, judge_id, metric)
    where score is not null
    group by response_id
) as s on s.response_id = asked.id
order by position
