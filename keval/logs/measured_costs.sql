-- One row per agent and condition, and one per judge: what their real answers or judgments have cost, as far as it is
-- known, whatever became of them later. Judgments that nobody was asked for are none.
select
    if(type = 'response', [agent_id, condition_id], [judge_id]) as about,
    count(*) as number, sum(cost_usd) as total_usd, max(cost_usd) as max_cost_usd
from paid
where type in ('response', 'judgment') and not mock and cost_usd is not null and not asked_nobody
group by about
