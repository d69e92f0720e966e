-- One row per config and condition that its run stopped to ask before the dataset's end, as it was decided: of how many
-- samples of the plan, from the first on, its answers count. As soon as a run of the config begins that goes on, there is none.
-- Which config a run was of its rule says: other configs may have the same plan.
with rule as (
    select distinct config_name, plan_id, rule_id from declarations where rule is not null
)
select p.config_name, p.plan_id, p.agent_id, unnest(map_keys(e.asked)) as condition_id, unnest(map_values(e.asked)) as asked
from (
    select p.config_name, p.plan_id, p.agent_id, max(e.position) as position
    from declarations as e
    join latest as l on l.position = e.position and l.type = 'until_end'
    join rule as u using (plan_id, rule_id)
    join plans as p on p.config_name = u.config_name and p.plan_id = e.plan_id and p.position < e.position
    join run_facts as r on r.position = p.position and r.mock = l.mock
    where e.asked is not null
    group by p.config_name, p.plan_id, p.agent_id
) as p
join declarations as e using (position)
