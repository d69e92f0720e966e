-- One row per agent and condition, and one per judge: what their real answers or judgments have cost, as far as it is
-- known, whatever became of them later. A line that the log holds twice was paid for once. A pair of an answer with
-- itself is no judgment that anybody was asked for.
select about, count(*) as number, sum(usd) as total_usd, max(usd) as max_cost_usd
from (
    select
        if(type = 'response', [agent_id, condition_id], [judge_id]) as about,
        cost_usd as usd
    from events
    where type in ('response', 'judgment') and not coalesce(mock or response_id = other_response_id, false)
        and position not in (from repeated)
)
where usd is not null
group by about
