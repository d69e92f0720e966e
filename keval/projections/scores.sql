-- One row per judgment and metric, of the judgments that are current. score is null where the judge found the metric not
-- applicable, for the reason that stands there.
-- condition is the newest name of the condition; after an edited prompt, `where current` leaves out the condition
-- that had the name before.
select
    s.log, s.run_id,
    c.condition, condition_id, agent_id, c.current,
    s.sample_id, s.repetition, s.replicate,
    s.judge, s.judge_id, s.response_id, s.judgment_id,
    s.metric, s.score, s.min, s.max, s.passed, s.not_applicable,
    t.scores[s.metric].reasoning as reasoning,
    s.position, s.mock
from texts as t
join score_facts as s using (position)
join conditions as c using (condition_id, agent_id)
