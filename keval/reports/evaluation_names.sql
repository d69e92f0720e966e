-- One row per name of a config that a run planned something by, the earliest first.
select config_name as name from run_facts
where config_name is not null and agent is not null
group by config_name
order by min(position)
