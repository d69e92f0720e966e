-- One row per kind of failure and stage: whose fault it is, and whether it counts as the scale's minimum or as missing.
select * from (values
    ('timeout', 'generate', 'agent', 'minimum'),
    ('agent_error', 'generate', 'agent', 'minimum'),
    ('infra_error', 'generate', 'machine', 'missing'),
    ('mcp_not_ready', 'generate', 'server', 'missing'),
    ('mcp_failed', 'generate', 'server', 'minimum'),
    ('mcp_unused', 'generate', 'gate', 'minimum'),
    ('mcp_all_failed', 'generate', 'gate', 'minimum'),
    ('budget', 'generate', 'budget', 'missing'),
    ('budget', 'judge', 'budget', 'missing'),
    ('judge_error', 'judge', 'judge', 'missing'),
    ('judge_invalid', 'judge', 'judge', 'missing'),
    ('code_refused', 'judge', 'code', 'minimum')
) as kinds(kind, stage, fault, counts_as)
