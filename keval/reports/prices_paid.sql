-- One row per current condition, agent, stage and judge: how often it was called, and what a call cost in US dollars, its
-- failed attempts included; null where no cost is known.
select
    condition_id, agent_id, stage, judge_id, max(judge) as judge,
    sum(n)::bigint as calls,
    fsum(cost_usd) / nullif(sum(n + failed_attempts - unknown), 0) * (sum(n + failed_attempts) / sum(n)) as usd
from costs
where current and n > 0
group by condition_id, agent_id, stage, judge_id
