-- One row: how many questions are planned, and how many of them nobody was asked under any condition, so that the log has no
-- record of their samples.
select count(*) as planned, count(*) filter (question_id not in (select question_id from events where question_id is not null))
    as never_asked
from (select distinct question_id from planned_questions)
