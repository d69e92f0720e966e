-- One row per condition and agent whose tasks the agent failed, of its own fault, before a later run got the answer that counts:
-- how many such answers there are.
with failed as materialized (
    select distinct condition_id, agent_id, sample_id, repetition, question_id
    from failure_facts
    join failure_kinds using (kind, stage)
    where stage = 'generate' and counts_as = 'minimum' and not current
)
select condition_id, agent_id, count(*) as answers
from response_facts
semi join failed using (condition_id, agent_id, sample_id, repetition, question_id)
where current
group by condition_id, agent_id
