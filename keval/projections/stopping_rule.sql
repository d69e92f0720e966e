-- One row per run that counts and is to stop when decided, so one at most: its rule, of how many samples it asked each condition that was
-- decided, and why it ended; null for a run that did not end in order.
with known as (
    -- Another config may have the same plan, and stop by a rule of its own.
    select n.position, d.rule, d.rule_id, n.plan_id, n.agent.agent_id as agent_id, n.mock
    from newest_config as n
    join declarations as d using (config_name, plan_id)
    join facts as f on f.position = d.position and f.mock = n.mock
    where d.rule is not null
    order by d.position desc
    limit 1
),
ended as (
    select arg_max(e.asked, e.position) as asked
    from known as k
    join declarations as e using (plan_id, rule_id)
    join facts as f on f.position = e.position and f.mock = k.mock
    where e.asked is not null and e.position > k.position
    having count(*) > 0
)
select k.rule, k.rule_id, k.plan_id, k.agent_id, k.mock, e.asked, e.asked is not null as ended
from known as k
left join ended as e on true
