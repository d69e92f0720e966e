-- One row per run: a call of a command that appended to the log, with what it was asked to do.
-- Conditions and judges are in the config's order.
-- rank: the newest run, which says what is planned, has the highest one. It is the last in the log, but for two that
-- replace none: a mock run in a log with real responses, and a run whose plan a crash cut off.
with real as (
    select count(*) > 0 as answered
    from events
    join latest using (position)
    where type = 'response' and not latest.mock
)
select
    position, log, id, time, run_id, command,
    config, config_name, config_sha256,
    try_cast(dataset as struct(path varchar, sha256 varchar, samples bigint)) as dataset,
    try_cast(agent as struct(name varchar, type varchar, model varchar, agent_id varchar, options json)) as agent,
    try_cast(conditions as map(varchar, struct(
        condition_id varchar, system_prompt varchar, mcp_servers varchar[],
        gates struct(require_mcp_tool_use boolean, require_mcp_tool_success boolean, retry_gates boolean),
        tools varchar[], tasks bigint
    ))) as conditions,
    try_cast(judges as struct(
        name varchar, type varchar, model varchar, judge_id varchar, replicates bigint, parameters json, texts json,
        metrics struct(name varchar, min double, max double)[]
    )[]) as judges,
    try_cast(mcp_servers as map(varchar, struct(
        server_name varchar, version varchar, tools varchar[], tools_sha256 varchar, error varchar
    ))) as mcp_servers,
    try_cast(seed as bigint) as seed,
    try_cast(repetitions as bigint) as repetitions,
    plan_id,
    environment,
    l.mock,
    row_number() over (
        order by not (l.mock and real.answered), plan_id in (select plan_id from whole_plans), position
    ) as rank
from events
join latest as l using (position), real
where type = 'run'
