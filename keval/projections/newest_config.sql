-- One row per log with a run of a config: the newest of these runs, whose config says what is planned, compared and judged.
from run_facts
where has_config
order by rank desc
limit 1
