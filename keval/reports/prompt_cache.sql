-- One row per judge whose model was asked with a cached prompt: input tokens that were read from the cache, and written.
select
    judge_id,
    coalesce(sum(cache_read_input_tokens), 0)::bigint as read,
    coalesce(sum(cache_creation_input_tokens), 0)::bigint as written
from costs
where stage = 'judge'
group by judge_id
having read + written > 0
order by judge_id
