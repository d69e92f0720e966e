-- One row per judge of two logs: which fields of a sample it is given, null for all.
select judge_id, if(bool_or(sample_fields is null), null, list_distinct(flatten(list(sample_fields)))) as fields
from (
    select judge_id, sample_fields from log_$one.judgment_facts where current
    union all
    select judge_id, sample_fields from log_$other.judgment_facts where current
)
group by judge_id
