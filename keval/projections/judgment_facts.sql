-- One row per judgment, without its texts: the last event of its id, unless it or its response was retracted.
-- answer, planned, same_answer, same_sample, current: see judgment_standings.
select
    position, file, line_offset, id, time, run_id,
    response_id, answer, has_response, sample_id, condition, condition_id, repetition, agent_id,
    judge, judge_id, replicate, sample_fields, scores, unverified_claims, usage, cost_usd, duration_ms, attempts,
    mock, planned, same_answer, same_sample, current
from facts
where type = 'judgment'
