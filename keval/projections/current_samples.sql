-- One row per agent and sample: the question that counts, as its id. It is the one that is planned, else that of the
-- last response or failed task.
-- An edited question is another question: answers to the old one are never pooled with answers to the new one.
select
    agent_id, sample_id,
    arg_max(question_id, {planned: p.question_id is not null, position: position}) as question_id
from events
semi join latest using (position)
left join planned_questions as p using (condition_id, agent_id, question_id)
where (type = 'response' or (type = 'failure' and stage = 'generate')) and question_id is not null
group by agent_id, sample_id
