-- One row per run: a call of a command that appended to the log, with what it was asked to do; `runs` by the file's number.
-- Conditions and judges are in the config's order. has_config: the run was one of a config, so it says what is planned; what only
-- judges, or aggregates, has none.
-- first_position: where its first line stands; an import that counts again is written once more.
-- rank: the newest run, which says what is planned, has the highest one. It is the last in the log, but for two that
-- replace none: a mock run in a log with real responses, and a run whose plan a crash cut off.
select
    position, file, line_offset, id, time, run_id, command,
    config, config_name, config_sha256, dataset, d.agent, conditions, judges, metrics, mcp_servers, seed, repetitions, plan_id,
    environment,
    coalesce(cardinality(conditions) > 0, false) as has_config,
    l.mock,
    first_position,
    row_number() over (
        order by
            not (l.mock and exists (from latest where type = 'response' and not mock)),
            plan_id is null or plan_id in (select plan_id from whole_plans), position
    ) as rank
from latest as l
join declarations as d using (position)
join line_offsets using (position)
join (select id, min(position) as first_position from events where type = 'run' group by id) using (id)
where l.type = 'run'
