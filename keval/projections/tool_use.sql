-- One row per current response that called a tool: how many calls there were and how many failed; whether one returned the
-- golden answer (found), and the names of tools that did and belong to no MCP server of the condition (found_by).
select unnest(from_json($used, '[{
    "position": "BIGINT", "sample_id": "VARCHAR", "condition_id": "VARCHAR", "agent_id": "VARCHAR",
    "calls": "BIGINT", "failed": "BIGINT", "found": "BOOLEAN", "found_by": ["VARCHAR"]
}]'), max_depth := 2)
