-- One row per agent and condition, and one per judge: what their real answers or judgments have cost, as far as it is
-- known, whatever became of them later. Judgments that nobody was asked for are none. All at the usual price, of which a run
-- that waited for batches of a judge or agent has paid a share.
with in_batches as (
    select distinct run_id, coalesce(judge_id, agent_id) as asker from events where type = 'batch'
)
select
    if(type = 'response', [agent_id, condition_id], [judge_id]) as about,
    count(*) as number, sum(usual_usd) as total_usd, max(usual_usd) as max_cost_usd
from (
    select paid.*, if(h.run_id is null, cost_usd, cost_usd / $batch_share) as usual_usd
    from paid
    left join in_batches as h on h.run_id = paid.run_id and h.asker = coalesce(paid.judge_id, paid.agent_id)
)
where type in ('response', 'judgment') and not mock and usual_usd is not null and not asked_nobody
group by about
