-- One row per agent, sample, condition and question of responses and failed tasks that count as the last of their id: by how
-- many repetitions the newest plan has it, null if not at all; the position of the last of them, and the last repetition.
select agent_id, sample_id, condition_id, question_id, p.repetitions, asked.position, asked.repetition
from (
    select agent_id, sample_id, condition_id, question_id, max(position) as position, max(repetition) as repetition
    from latest
    where type = 'response' or (type = 'failure' and stage = 'generate')
    group by all
) as asked
left join planned_questions as p using (condition_id, agent_id, question_id)
