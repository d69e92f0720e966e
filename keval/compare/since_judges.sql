-- One row per judge and set of fields of a sample that it is given.
select distinct judge_id, sample_fields, true as current
from judgment_facts
where current
