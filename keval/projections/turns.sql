-- No query but the column `turns` of responses and failures: what the agent did, step by step, as the event's line has it.
try_cast(line -> '$.turns' as struct(
    type varchar, text varchar, id varchar, name varchar, server varchar, input json, result varchar,
    error boolean, duration_ms bigint
)[])
