-- One row: the section `gate` of the config of the newest run that had one, as JSON; null if that config has no such section.
select arg_max({gate: config -> '$.gate'}, rank).gate as gate from run_facts where config is not null
