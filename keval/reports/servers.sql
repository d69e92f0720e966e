-- One row per MCP server of the newest run that had any, as it introduced itself.
with newest as (
    select arg_max(mcp_servers, rank) as servers from run_facts where cardinality(mcp_servers) > 0
)
select entry.key as name, entry.value.server_name, entry.value.version, entry.value.tools, entry.value.error
from (select unnest(map_entries(servers)) as entry from newest)
