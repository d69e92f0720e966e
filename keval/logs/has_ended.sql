-- One row: whether it stands in the log how the newest run of a config ended that was to stop when decided.
select coalesce(max(e.position) > (select max(position) from run_facts where cardinality(conditions) > 0), false) as ended
from facts as e
where e.type = 'until_end' and e.mock = $mock
