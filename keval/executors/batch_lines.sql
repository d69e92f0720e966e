-- One row per `batch` event, in their order: where its line begins, whether its run was a mock run, and its place.
select line_offset, coalesce(r.mock, false) as mock, position
from events as b
join line_offsets using (position)
left join (select run_id, bool_or(mock) as mock from events where type = 'run' group by run_id) as r using (run_id)
where b.type = 'batch'
order by position
