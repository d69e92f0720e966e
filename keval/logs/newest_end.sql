-- One row, of the line that says how the newest run of a config ended that was to stop by a rule; none if no line does.
select f.line_offset
from facts as f
join declarations as d using (position)
where f.type = 'until_end' and f.mock = $mock and d.rule_id = $rule_id
    and position > (
        select arg_max(position, rank)
        from run_facts
        where has_config and mock = $mock and config_name = $config_name
    )
order by position desc
limit 1
