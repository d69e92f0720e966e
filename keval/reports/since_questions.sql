-- One row per sample that has answers now, and question that was asked by it.
select distinct sample_id, question_id, true as current
from response_facts
where current
