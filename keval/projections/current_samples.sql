-- One row per agent and sample: the question that counts, as its id. It is the one that is planned, else that of the
-- last response or failed task.
-- An edited question is another question: answers to the old one are never pooled with answers to the new one.
select
    agent_id, sample_id,
    -- What is planned ranks above all that is not; a position has fewer than 40 bits.
    arg_max(question_id, if(repetitions is null, 0, 1::bigint << 40) + position) as question_id
from asked_questions
where question_id is not null
group by agent_id, sample_id
