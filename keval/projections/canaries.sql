-- One row per current response and tool whose results contain the sample's golden answer word for word, upper and lower
-- case and kinds of whitespace apart. server is null for a tool that belongs to no MCP server of the condition.
-- An MCP server that returns the answer is a context that has it. Another tool read it where no agent should find it.
select response_id, condition, condition_id, agent_id, sample_id, repetition, turn.name as name, turn.server as server
from (select *, unnest(turns) as turn from searched_answers)
where turn.type = 'tool_call'
    -- Many tools return JSON, in which a line break is two characters.
    and contains(
        lower(regexp_replace(replace(turn.result, '\"', '"'), '(\\[nrt]|[\s\p{Z}])+', ' ', 'g')), golden_answer
    )
group by all
