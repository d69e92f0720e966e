-- One row per condition and agent with answers that met the condition's gates only when asked again.
with gate as (
    select list(kind) as kinds from failure_kinds where fault = 'gate'
)
select condition_id, agent_id, count(*) as answers, sum(refused)::bigint as refused
from (
    select condition_id, agent_id, len(list_filter(
        failed_attempts, lambda attempt: list_contains(gate.kinds, attempt.kind)
    )) as refused
    from current_lines, gate
    where type = 'response' and len(failed_attempts) > 0
)
where refused > 0
group by condition_id, agent_id
