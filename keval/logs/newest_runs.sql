-- One row per config, by its name, and kind of run, mock or not: where the line of its newest run begins. The last run
-- comes first.
select config_name, mock, arg_max(line_offset, position) as line_offset
from run_facts
where cardinality(conditions) > 0
group by config_name, mock
order by max(position) desc
