-- One row per judgment and metric, of the judgments that are current.
-- condition is the newest name of the condition; after an edited prompt, `where current` leaves out the condition
-- that had the name before.
select
    s.condition, s.condition_id, s.agent_id, s.current,
    s.sample_id, s.repetition, s.replicate,
    s.judge, s.judge_id, s.response_id, s.judgment_id,
    s.metric, s.score, s.min, s.max, s.passed,
    t.scores[s.metric].reasoning as reasoning,
    s.position, s.mock
from texts as t
join score_facts as s using (position)
