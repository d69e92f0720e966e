-- One row per run that counts and is to stop when decided, so one at most: its rule, of how many samples it asked each condition that was
-- decided, and why it ended; null for a run that did not end in order.
with newest as (
    select position, rank, mock, plan_id, agent.agent_id as agent_id
    from run_facts
    where cardinality(conditions) > 0
    order by rank desc
    limit 1
),
ended as (
    select n.plan_id, arg_max(e.asked, e.position) as asked
    from newest as n
    join declarations as e using (plan_id)
    join facts as f on f.position = e.position and f.mock = n.mock
    where e.asked is not null and e.position > n.position
    group by n.plan_id
)
select d.rule, d.rule_id, n.plan_id, n.agent_id, n.mock, e.asked, e.plan_id is not null as ended
from newest as n
join declarations as d using (plan_id)
join facts as f on f.position = d.position and f.mock = n.mock
left join ended as e using (plan_id)
where d.rule is not null
order by d.position desc
limit 1
