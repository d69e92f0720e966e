-- One row per condition and agent whose tasks left processes behind, with their names.
select condition_id, agent_id, count(*) as count, list_sort(list_distinct(flatten(list(processes)))) as names
from orphaned_processes
group by condition_id, agent_id
