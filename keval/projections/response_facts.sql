-- One row per response, without its texts: the last event of its id, unless retracted.
-- current: it answers the question that counts of its sample, and is planned. Everything computed from responses uses
-- only these. asked, planned: see partly_planned.
select
    position, file, line_offset, id, time, run_id,
    sample_id, sample_sha256, question_id, condition, condition_id, repetition,
    {name: agent.name, type: agent.type, model: agent.model} as agent, agent_id,
    status, mcp, usage, cost_usd, duration_ms, num_turns, models, attempts, failed_attempts,
    mock, asked, planned, current
from facts
where type = 'response'
