-- One row per line of a file, in order, with what numbers are made from, and nothing that can be long: no answer, no turn, no
-- reasoning. A tool may return 10 MB, and thousands of lines are in memory at once. What a report quotes is cut: a message
-- and a claim to 4,000 characters. What only few lines have stands in `declarations`: each column takes time.
-- Known types were checked before, so nothing of theirs is converted; what a line of an unknown type holds is null where it
-- is of another type than here. Paths are taken literally: no compression and no partitions are guessed from a name.
select
    $file::smallint as file,
    * exclude (sample, text, turns, sample_id, answer_sha256, unverified_claims, message, outcome),
    coalesce(sample.id, sample_id) as sample_id,
    sample is not null as has_sample,
    -- What the sample has in common with those that belong to it; the config's cluster_key says what that is.
    sample.cluster as cluster,
    coalesce(answer_sha256, sha256(text)) as answer_sha256,
    -- A model may list nothing but white space: that is no claim.
    if(
        len(unverified_claims) > 0,
        list_filter(
            list_transform(unverified_claims, lambda claim: trim(left(claim, 4000), E' \t\r\n')),
            lambda claim: claim <> ''
        ),
        unverified_claims
    ) as unverified_claims,
    left(message, 4000) as message,
    -- What a judge of pairs says of its verdict; an outcome may hold anything, so it is read as text.
    try_cast(outcome.order_dependent as boolean) as order_dependent,
    -- Whether there is something to find out of the response's tools, and a golden answer to be looked for in what they
    -- returned: $shortest characters, and the same white space as in keval/projections/tool_use.py.
    list_contains(turns, {type: 'tool_call'}) as calls_tools,
    case
        when coalesce(length(sample.answer), 0) < $shortest then false
        -- Most begin with twenty letters and single spaces between them: then the rest is not looked at.
        when length(trim(left(sample.answer, 60))) >= $shortest
            and not regexp_matches(left(sample.answer, 60), '  |[$breaks$wide]')
            then true
        else length(trim(regexp_replace(
            sample.answer,
            '[$breaks $wide]+', ' ', 'g'
        ))) >= $shortest
    end as is_searched
from read_json(
    $path,
    format = 'newline_delimited',
    compression = 'uncompressed',
    hive_partitioning = false,
    maximum_object_size = $longest_line,
    ignore_errors = true,
    columns = {
        -- every event
        type: 'VARCHAR', id: 'VARCHAR', time: 'VARCHAR', run_id: 'VARCHAR', mock: 'BOOLEAN',
        -- what a response, judgment or failure is about
        sample: 'STRUCT(id VARCHAR, answer VARCHAR, cluster VARCHAR)', sample_id: 'VARCHAR', sample_sha256: 'VARCHAR', question_id: 'VARCHAR',
        condition: 'VARCHAR', condition_id: 'VARCHAR', agent_id: 'VARCHAR', repetition: 'BIGINT',
        agent: 'STRUCT(name VARCHAR, type VARCHAR, model VARCHAR)',
        response_id: 'VARCHAR', judge: 'STRUCT(name VARCHAR, type VARCHAR, model VARCHAR)', judge_id: 'VARCHAR',
        replicate: 'BIGINT', sample_fields: 'VARCHAR[]', answer_sha256: 'VARCHAR',
        other_response_id: 'VARCHAR', other_answer_sha256: 'VARCHAR',
        -- what came of it
        status: 'VARCHAR', text: 'VARCHAR', turns: 'STRUCT(type VARCHAR)[]', models: 'VARCHAR[]', num_turns: 'BIGINT',
        mcp: 'MAP(VARCHAR, STRUCT(
            status VARCHAR, offered VARCHAR[], called BIGINT, failed BIGINT, server_name VARCHAR, version VARCHAR
        ))',
        scores: 'MAP(VARCHAR, STRUCT(
            score DOUBLE, min DOUBLE, max DOUBLE, passed BOOLEAN, not_applicable VARCHAR, outside BOOLEAN
        ))',
        outcome: 'STRUCT(order_dependent VARCHAR)',
        unverified_claims: 'VARCHAR[]', stage: 'VARCHAR', kind: 'VARCHAR', message: 'VARCHAR',
        usage: 'STRUCT(
            input_tokens BIGINT, output_tokens BIGINT, cache_read_input_tokens BIGINT, cache_creation_input_tokens BIGINT
        )',
        cost_usd: 'DOUBLE', duration_ms: 'BIGINT', attempts: 'BIGINT',
        failed_attempts: 'STRUCT(
            kind VARCHAR, cost_usd DOUBLE,
            usage STRUCT(
                input_tokens BIGINT, output_tokens BIGINT,
                cache_read_input_tokens BIGINT, cache_creation_input_tokens BIGINT
            ),
            orphaned_processes VARCHAR[]
        )[]',
        orphaned_processes: 'VARCHAR[]',
        -- retraction
        target: 'VARCHAR'
    }
)
$limit
