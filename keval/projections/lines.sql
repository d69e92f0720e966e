-- One row per line of the files, in order, with what numbers are made from, and nothing that can be long: no answer, no
-- turn, no reasoning. A tool may return 10 MB, and thousands of lines are in memory at once. Those are in `texts`.
-- What a report quotes is cut: a message and a claim to 4,000 characters.
select
    log, type, id, time, run_id,
    command, config, config_name, config_sha256, dataset, conditions, judges, mcp_servers, seed, repetitions,
    environment,
    plan_id, try_cast(part as bigint) as part, try_cast(parts as bigint) as parts,
    if(type = 'plan', try_cast(question_ids as varchar[]), null) as question_ids,
    if(type = 'sample_change', try_cast(changed as varchar[]), null) as changed,
    if(type in ('response', 'sample_change'), sample ->> '$.id', sample_id) as sample_id, sample_sha256, question_id,
    condition, condition_id, agent, agent_id, repetition, response_id, judge, judge_id, replicate,
    try_cast(sample_fields as varchar[]) as sample_fields,
    status, coalesce(answer_sha256, sha256(text)) as answer_sha256, mcp, models, num_turns,
    try_cast(scores as map(varchar, struct(
        score double, min double, max double, passed boolean, not_applicable varchar
    ))) as scores,
    list_transform(try_cast(unverified_claims as varchar[]), lambda claim: left(claim, 4000)) as unverified_claims,
    stage, kind, left(message, 4000) as message,
    usage, cost_usd, duration_ms, attempts,
    try_cast(failed_attempts as struct(kind varchar, cost_usd double, usage json, orphaned_processes varchar[])[])
        as failed_attempts,
    orphaned_processes, mock, target
from records
