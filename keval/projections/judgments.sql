-- One row per judgment: the last event of its id, unless it or its response was retracted.
-- current: it judged the present text of a response that is current, given the present sample. A judgment whose response
-- the log never held (a log cut with grep) stands for itself, if its condition and repetition are planned.
select
    j.position, j.log, j.id, j.time, j.run_id,
    j.response_id, j.sample_id, j.condition, j.condition_id, j.repetition, j.agent_id, j.judge, j.judge_id, j.replicate,
    j.sample_fields,
    t.scores, t.unverified_claims, t.outcome,
    j.usage, j.cost_usd, j.duration_ms, j.attempts, t.failed_attempts,
    j.mock, j.planned, j.current
from texts as t
join judgment_facts as j using (position)
