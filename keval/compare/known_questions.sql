-- One row per sample of a log and question that was asked under its id and counts.
select distinct sample_id, question_id
from log_$number.facts
where current and type in ('response', 'failure') and question_id is not null
