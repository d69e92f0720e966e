-- One row: what the newest run says. What `judge` or `aggregate` appended says nothing of the agent: each part is that of
-- the newest run that has it. mock is that of the last run in the log, asks_mock of the newest one with an agent.
-- names_judge: whether the newest run with conditions names a judge that can be asked, as `keval judge` without -j needs it.
select
    arg_max(config_name, rank) filter (config_name is not null) as name,
    (arg_max({version: config ->> '$.version'}, rank) filter (config ->> '$.name' is not null)).version as version,
    arg_max(agent, rank) filter (agent is not null) as agent,
    coalesce(arg_max(command, rank) filter (agent is not null) = 'import', false) as imported,
    arg_max(dataset, rank) filter (dataset is not null) as dataset,
    arg_max(seed, rank) filter (seed is not null) as seed,
    coalesce(arg_max(mock, rank) filter (agent is not null), false) as asks_mock,
    coalesce(len(list_filter(
        arg_max(judges, rank) filter (has_config), lambda judge: judge.type <> 'imported'
    )), 0) > 0 as names_judge,
    coalesce(arg_max(mock, position), false) as mock
from run_facts
