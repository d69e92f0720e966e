-- One row per response: the last event of its id, unless retracted.
-- current: it answers the question that counts of its sample, and is planned: the newest plan has its question, condition,
-- agent and repetition. Everything computed from responses uses only these.
select
    r.position, r.log, r.id, r.time, r.run_id,
    t.sample, r.sample_id, r.sample_sha256, r.question_id,
    r.condition, r.condition_id, r.repetition, r.agent, r.agent_id,
    r.status, t.text, t.turns, r.mcp, t.sources, r.usage, r.cost_usd, r.duration_ms, r.num_turns, r.models, r.attempts,
    t.failed_attempts,
    r.mock, r.planned, r.current
from texts as t
join response_facts as r using (position)
