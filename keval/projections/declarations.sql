-- One row per line of a file that says what is to be done, or what changed: a run, a plan, a changed sample, when a run
-- is to stop, and what it did not ask for then; and what a failure says of its sample, but for fields that are long.
select * replace (
    map_from_entries(list_filter(map_entries(sample), lambda field: length(field.value) <= 4000)) as sample
)
from read_json(
    $path,
    format = 'newline_delimited',
    compression = 'uncompressed',
    hive_partitioning = false,
    maximum_object_size = $longest_line,
    ignore_errors = true,
    columns = {
        type: 'VARCHAR',
        -- sample_change, and failures of the agent
        stage: 'VARCHAR', sample: 'MAP(VARCHAR, JSON)',
        -- run
        command: 'VARCHAR', config: 'JSON', config_name: 'VARCHAR', config_sha256: 'VARCHAR',
        dataset: 'STRUCT(path VARCHAR, sha256 VARCHAR, samples BIGINT)',
        conditions: 'MAP(VARCHAR, STRUCT(
            condition_id VARCHAR, system_prompt VARCHAR, mcp_servers VARCHAR[],
            gates STRUCT(require_mcp_tool_use BOOLEAN, require_mcp_tool_success BOOLEAN, retry_gates BOOLEAN),
            tools VARCHAR[], tasks BIGINT
        ))',
        judges: 'STRUCT(
            name VARCHAR, type VARCHAR, model VARCHAR, models VARCHAR[], unit VARCHAR, judge_id VARCHAR, replicates BIGINT,
            sampling STRUCT(rate DOUBLE, seed BIGINT), only_for MAP(VARCHAR, JSON), parameters JSON, texts JSON,
            metrics STRUCT(name VARCHAR, min DOUBLE, max DOUBLE, pass_from DOUBLE)[]
        )[]',
        metrics: 'STRUCT(
            name VARCHAR, type VARCHAR, judge_id VARCHAR,
            parts STRUCT(judge VARCHAR, judge_id VARCHAR, metric VARCHAR, weight DOUBLE)[],
            tokens_exponent DOUBLE, per_tokens DOUBLE, min DOUBLE, max DOUBLE, pass_above DOUBLE, formula VARCHAR
        )[]',
        mcp_servers: 'MAP(VARCHAR, STRUCT(
            server_name VARCHAR, version VARCHAR, tools VARCHAR[], tools_sha256 VARCHAR, error VARCHAR
        ))',
        agent: 'STRUCT(name VARCHAR, type VARCHAR, model VARCHAR, agent_id VARCHAR, options JSON, reports_tool_calls BOOLEAN)',
        seed: 'BIGINT', repetitions: 'BIGINT', environment: 'JSON',
        -- plan
        plan_id: 'VARCHAR', part: 'BIGINT', parts: 'BIGINT', question_ids: 'VARCHAR[]',
        -- sample_change
        changed: 'VARCHAR[]',
        -- until_rule, until_end
        rule_id: 'VARCHAR', rule: 'JSON', asked: 'MAP(VARCHAR, BIGINT)'
    }
)
