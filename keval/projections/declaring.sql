-- One row per line that says what is to be done, or what changed, of those from a position on, and per record of a sample that
-- the agent failed to answer, its last failure: where it is.
select position, line_offset
from lines
positional join line_offsets
where type in ($types) and position > $before
union all
select max(position), arg_max(line_offset, position)
from lines
positional join line_offsets
where type = 'failure' and stage = 'generate' and position > $before
group by sample_id, sample_sha256
order by position
