-- One row per line of the files, in order, with the log that it is from and its fields as they were written. A view: the
-- files are read again each time, and of a line only the fields that are asked for.
-- Nothing is converted here: a line of an unknown type may hold anything under any name.
-- Paths are taken literally: no compression and no partitions are guessed from a name.
-- Of a log that is written to meanwhile, only the lines that were checked are read.
select $log as log, *
from (
    select *
    from read_json(
        $file,
        format = 'newline_delimited',
        compression = 'uncompressed',
        hive_partitioning = false,
        maximum_object_size = $longest_line,
        ignore_errors = $ignore_errors,
        columns = {
            -- every event
            type: 'VARCHAR', id: 'VARCHAR', time: 'VARCHAR', run_id: 'VARCHAR',
            -- run
            command: 'VARCHAR', config: 'JSON', config_name: 'VARCHAR', config_sha256: 'VARCHAR', dataset: 'JSON',
            conditions: 'JSON', judges: 'JSON', mcp_servers: 'JSON', seed: 'VARCHAR', repetitions: 'VARCHAR',
            environment: 'JSON',
            -- plan
            plan_id: 'VARCHAR', part: 'VARCHAR', parts: 'VARCHAR', question_ids: 'JSON',
            -- sample_change
            changed: 'JSON',
            -- what a response, judgment or failure is about
            sample: 'JSON', sample_id: 'VARCHAR', sample_sha256: 'VARCHAR', question_id: 'VARCHAR',
            condition: 'VARCHAR', condition_id: 'VARCHAR', agent: 'JSON', agent_id: 'VARCHAR', repetition: 'VARCHAR',
            response_id: 'VARCHAR', judge: 'JSON', judge_id: 'VARCHAR', replicate: 'VARCHAR', sample_fields: 'JSON',
            answer_sha256: 'VARCHAR',
            -- what came of it
            status: 'VARCHAR', text: 'VARCHAR', turns: 'JSON', mcp: 'JSON', sources: 'JSON', models: 'JSON',
            num_turns: 'VARCHAR',
            scores: 'JSON', unverified_claims: 'JSON', outcome: 'JSON',
            stage: 'VARCHAR', kind: 'VARCHAR', message: 'VARCHAR',
            usage: 'JSON', cost_usd: 'VARCHAR', duration_ms: 'VARCHAR', attempts: 'VARCHAR', failed_attempts: 'JSON',
            orphaned_processes: 'JSON', mock: 'VARCHAR',
            -- retraction
            target: 'VARCHAR'
        }
    )
    limit $lines
)
