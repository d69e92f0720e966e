-- One row per sample that has answers now, or failures, and question that was asked by it.
select distinct sample_id, question_id, type, true as current
from facts
where current and type in ('response', 'failure')
