-- One row per current condition other than the baseline, agent, judge and metric, with the baseline that it is compared
-- with: the condition that the config of the newest run names as such, or its first one; without a run, the first by name.
-- Agents are never compared.
with baseline as (
    select condition_id as baseline_id, agent_id
    from conditions
    where current
    order by coalesce(condition = (select config ->> '$.baseline' from newest_config), false) desc, place
    limit 1
)
select s.condition_id, b.baseline_id, s.agent_id, s.judge_id, s.metric
from series as s
join baseline as b on b.agent_id = s.agent_id and b.baseline_id <> s.condition_id
semi join (from conditions where current) as c on c.condition_id = s.condition_id and c.agent_id = s.agent_id
