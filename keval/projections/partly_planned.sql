-- One row per response and failed task that counts as the last of its id and is about a question of which not all is asked and
-- planned, which few are in most logs: of any other both is true.
-- asked: it is about the question that counts of its sample, or one that a plan has: another config may ask another.
-- planned: the newest plan has it: its question, condition, agent and repetition; without a plan in the log, all is
-- planned.
-- current: both; or the first, when all that answers a current question was asked for.
with question as (
    select
        a.agent_id, a.sample_id, a.condition_id, a.question_id, a.repetition as last_repetition,
        coalesce(a.question_id = c.question_id, true) or a.repetitions is not null as asked,
        if(a.question_id is null, p.repetitions, a.repetitions) as repetitions
    from asked_questions as a
    left join current_samples as c using (agent_id, sample_id)
    left join condition_repetitions as p using (condition_id, agent_id)
),
partly as (
    from question
    where not asked or (exists (from plans) and not coalesce(last_repetition <= repetitions, false))
),
known as (
    select
        task.position, q.asked,
        not exists (from plans) or coalesce(task.repetition <= q.repetitions, false) as planned
    from latest as task
    join partly as q
        on q.sample_id = task.sample_id and q.condition_id = task.condition_id and q.agent_id = task.agent_id
        and q.question_id is not distinct from task.question_id
    where task.type = 'response' or (task.type = 'failure' and task.stage = 'generate')
)
select position, asked, planned, asked and (planned or $everything) as current
from known
