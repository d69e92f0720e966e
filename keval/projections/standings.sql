-- One row per response and failed task that counts as the last of its id.
-- asked: it is about the question that counts of its sample, or one that a plan has: another config may ask another. planned: the newest plan has it: its question, condition,
-- agent and repetition; without a plan in the log, all is planned.
-- current: both; or the first, when all that answers a current question was asked for.
with task as (
    select position, agent_id, sample_id, condition_id, question_id, try_cast(repetition as bigint) as repetition
    from events
    semi join latest using (position)
    where type = 'response' or (type = 'failure' and stage = 'generate')
),
planned as (
    select condition_id, agent_id, max(repetitions) as repetitions from planned_conditions group by all
),
known as (
    select
        task.position,
        coalesce(task.question_id = c.question_id, true) or q.question_id is not null as asked,
        case
            when not exists (from plans) then true
            when task.question_id is null then coalesce(task.repetition <= planned.repetitions, false)
            else coalesce(task.repetition <= q.repetitions, false)
        end as planned
    from task
    left join current_samples as c using (agent_id, sample_id)
    left join planned using (condition_id, agent_id)
    left join planned_questions as q
        on q.condition_id = task.condition_id and q.agent_id = task.agent_id and q.question_id = task.question_id
)
select position, asked, planned, asked and (planned or $everything) as current
from known
