-- One row per current answer, and per failure of an agent that is open, in a part of the log, in its order: what was asked, what
-- came of it, and the scores of an answer as JSON. passed: what the judge says, else whether the score is at least its pass_from.
with asked as (
    select
        position, id, time, run_id, agent.name as agent_name, agent.model as model, agent_id,
        sample -> '$.question' as question, sample_id, condition, condition_id, repetition,
        status, text, turns, usage, cost_usd, duration_ms, models, mock, null as kind, null as message
    from responses
    where current and position between $first and $last
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
    where current and stage = 'generate' and position between $first and $last
),
scored as (
    select
        response_id,
        to_json(list(
            {
                judge: judge, judge_id: judge_id, metric: metric, score: score, reasoning: reasoning, time: j.time,
                judgment_id: judgment_id, replicate: replicate, passed: coalesce(passed, score >= pass_from - $pass_slack)
            }
            order by s.position, metric
        ))::varchar as scores
    from scores as s
    join (select id as judgment_id, time from judgment_facts) as j using (judgment_id)
    left join thresholds as t using (judge_id, metric)
    where score is not null and response_id in (select id from response_facts where current and position between $first and $last)
    group by response_id
)
select asked.*, coalesce(scored.scores, '[]') as scores
from asked
left join scored on scored.response_id = asked.id
order by position
