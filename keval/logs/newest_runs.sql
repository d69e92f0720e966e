-- One row per config, by its name, and kind of run, mock or not: where the line of its newest run begins. The newest of all,
-- which says what is planned and who judges, comes first: see the rank in run_facts. is_last: no run of a config came later.
select
    config_name, mock, arg_max(line_offset, rank) as line_offset,
    arg_max(position, rank) = max(max(position)) over () as is_last
from run_facts
where has_config
group by config_name, mock
order by max(rank) desc
