-- One row: the config of the newest run that has one, and what it ran with.
select
    arg_max(config, rank) filter (config ->> '$.name' is not null) as config,
    arg_max(environment, rank) filter (config ->> '$.name' is not null) as environment
from run_facts
