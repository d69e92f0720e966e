-- One row per current answer of a condition that has a score, in the order of the log: what was asked, by the newest
-- record of the sample if its question is still the same, what was answered, and its scores as JSON. passed: what the
-- judge says, else whether the score is at least its pass_from; null without one.
select
    r.id, if((n.sample -> '$.question') = (r.sample -> '$.question'), n.sample, r.sample) as sample, r.sample_id,
    r.condition, r.repetition, r.text, r.turns, r.usage, r.duration_ms, r.num_turns, s.scores
from responses as r
left join samples as n on n.sample_id = r.sample_id
join (
    select
        response_id,
        to_json(list(
            {
                judge: judge, judge_id: judge_id, metric: metric, score: score, max: max,
                passed: coalesce(passed, score >= pass_from - $pass_slack),
                replicate: replicate, judgment_id: judgment_id, reasoning: reasoning
            }
            order by position, metric
        ))::varchar as scores
    from scores
    left join thresholds using (judge_id, metric)
    where condition_id = $condition_id and agent_id = $agent_id and current and computed is null and score is not null
    group by response_id
) as s on s.response_id = r.id
where r.condition_id = $condition_id and r.agent_id = $agent_id and r.current
order by r.position
