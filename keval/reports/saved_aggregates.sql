-- One row per aggregate and comparison of logs that hold nothing from which to compute them: where its
-- line lies.
select file, line_offset
from events
join line_offsets using (position)
where type in ('aggregate', 'comparison')
    and position not in (select position from standing where not counts)
    and not exists (from events where type in ('response', 'judgment', 'failure'))
order by position
