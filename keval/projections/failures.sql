-- One row per failure: the last event of its id, unless retracted.
-- current: nothing has come of the task, or of the judging, since; see open_failures.
select
    f.position, f.log, f.id, f.time, f.run_id, f.stage, f.kind, t.message,
    f.sample_id, f.sample_sha256, f.question_id, f.condition, f.condition_id, f.repetition, f.agent_id,
    f.response_id, f.judge, f.judge_id, f.replicate,
    t.turns, f.mcp, f.usage, f.cost_usd, f.duration_ms, f.attempts, t.failed_attempts,
    f.mock, f.current
from texts as t
join failure_facts as f using (position)
