-- One row per condition, agent and stage: what it cost, and how many attempts that is known of.
select
    condition_id, agent_id, stage,
    fsum(cost_usd) as cost_usd, sum(n + failed_attempts - unknown)::bigint as known, sum(unknown)::bigint as unknown
from cost_sums
semi join (from conditions where current) as c using (condition_id, agent_id)
group by condition_id, agent_id, stage
