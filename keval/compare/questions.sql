-- One row per sample of which two logs have answers, or failures: whether its question is the same. Of a sample that only one log
-- has, asked_in is that log.
with one as (
    select sample_id, list_sort(list(distinct question_id)) as asked
    from log_$one.facts where current and type in ('response', 'failure') and question_id is not null group by sample_id
),
other as (
    select sample_id, list_sort(list(distinct question_id)) as asked
    from log_$other.facts where current and type in ('response', 'failure') and question_id is not null group by sample_id
)
select
    sample_id,
    case when one.asked is null then $other when other.asked is null then $one end as asked_in,
    coalesce(list_has_any(one.asked, other.asked), true) as is_same
from one
full join other using (sample_id)
order by sample_id
