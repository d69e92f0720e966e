-- One row, of the line that says how the newest run of a config ended that was to stop when decided; none if no line does.
select line_offset
from facts
where type = 'until_end' and mock = $mock
    and position > (select arg_max(position, rank) from run_facts where cardinality(conditions) > 0 and mock = $mock)
order by position desc
limit 1
