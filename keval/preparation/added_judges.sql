-- One row per judge that was added to the log apart from a config: whether it was given all of a sample, or which fields.
select
    c.name, c.judge_id, bool_or(e.sample_fields is null) as is_given_all, list_sort(list_distinct(flatten(list(e.sample_fields)))) as sample_fields
from current_judges as c
join events as e on e.judge_id = c.judge_id and e.type = 'judgment'
where c.is_added
group by c.name, c.judge_id
order by c.name, c.judge_id
