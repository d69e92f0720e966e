-- One row per condition, agent and MCP server: in how many answers it was there and used.
select
    condition_id, agent_id, server, count(*) as responses, count(*) filter (use.called > 0) as responses_using,
    sum(use.called)::bigint as called, sum(use.failed)::bigint as failed
from (
    select condition_id, agent_id, unnest(map_keys(mcp)) as server, unnest(map_values(mcp)) as use
    from current_lines
    where type = 'response' and cardinality(mcp) > 0
)
group by condition_id, agent_id, server
order by server
