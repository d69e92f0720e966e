-- One row per failure, without its texts: the last event of its id, unless retracted. message is cut.
-- current: nothing has come of the task, or of the judging, since; see open_failures.
select
    position, file, line_offset, id, time, run_id, stage, kind, message,
    sample_id, sample_sha256, question_id, condition, condition_id, repetition, agent_id,
    response_id, judge, judge_id, replicate, mcp, usage, cost_usd, duration_ms, attempts,
    mock, planned, current
from facts
where type = 'failure'
