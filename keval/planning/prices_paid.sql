-- One row per current condition, agent, stage and judge: how often somebody was asked, and what that cost each time in US dollars, with what
-- is known of failed attempts; null where no cost is known. A failed attempt of unknown cost, such as one that was refused, is taken
-- for no other: nobody knows that it was paid. is_asked: a run asks for it, which it does not of a judge that was added to the log.
select
    condition_id, agent_id, stage, judge_id, max(judge) as judge,
    sum(asked)::bigint as calls,
    if(sum(asked) = 0, 0, fsum(cost_usd) / nullif(sum(asked - unknown_calls), 0)) as usd,
    judge_id is null or judge_id in (select judge_id from current_judges where not is_added) as is_asked
from cost_sums
join (from conditions where current) using (condition_id, agent_id)
where n > 0
group by condition_id, agent_id, stage, judge_id
