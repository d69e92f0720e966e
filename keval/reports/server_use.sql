-- One row per condition, agent and MCP server: in how many tasks it was connected and in how many answers used; calls
-- are those of all tasks, also of those that failed. connected is null where nobody knows.
select
    condition_id, agent_id, server,
    count(*) as tasks,
    if(bool_or(use.status <> 'unknown'), count(*) filter (was_connected), null) as connected,
    count(*) filter (type = 'response') as responses,
    count(*) filter (type = 'response' and use.called > 0) as responses_using,
    sum(use.called)::bigint as called, sum(use.failed)::bigint as failed
from (
    select
        *,
        -- One that went away during the task had been there.
        use.status in ('connected', 'reconnected') or len(use.offered) > 0 or use.called > 0 as was_connected
    from (
        select type, condition_id, agent_id, unnest(map_keys(mcp)) as server, unnest(map_values(mcp)) as use
        from current_lines
        where (type = 'response' or stage = 'generate') and cardinality(mcp) > 0
    )
)
group by condition_id, agent_id, server
order by server
