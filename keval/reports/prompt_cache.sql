-- One row per judge whose model was asked with a cached prompt: input tokens that were read from the cache, and written; null where
-- nobody says so.
select
    judge_id,
    sum(cache_read_input_tokens)::bigint as read,
    sum(cache_creation_input_tokens)::bigint as written
from costs
where stage = 'judge'
group by judge_id
having coalesce(read, 0) + coalesce(written, 0) > 0
order by judge_id
