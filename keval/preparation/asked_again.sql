-- One row per condition of the config, by its place, and whether the question was edited: which of the tasks that are
-- answered by the question, condition and agent of before are to be asked now (`asked_tasks`).
select place, edited, list(distinct number) as tasks
from (
    select
        c.place, b.question_id <> s.question_id as edited,
        $number as number
    from (
        select question_id, condition_id, repetition
        from facts
        where type = 'response' and agent_id = $agent_id and ($mock or not mock)
    ) as e
    join (values $conditions) as c(place, condition_id) using (condition_id)
    join questions_before as b using (question_id)
    join config_samples as s on s.place = b.place
    where e.repetition between 1 and $repetitions
)
semi join asked_tasks using (number)
group by place, edited
