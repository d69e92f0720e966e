-- One row per current condition, the one that others are compared with first: the baseline of the newest run, or its first
-- condition. baseline: what the condition is compared with, by the config that it is of; null where that is no more current, as
-- in a log of several configs. Of imports, each of which may bring one condition, all are compared with the first.
with shown as (
    select
        condition, condition_id, place, coalesce(condition = (select config ->> '$.baseline' from newest_config), false) as is_named
    from conditions
    where current
),
own as (
    select c.condition_id, arg_max(b.condition_id, c.rank) as baseline_id
    from config_conditions as c
    join config_conditions as b
        on b.place = 1 and not b.imported and b.config_name is not distinct from c.config_name
    where not c.imported
    group by c.condition_id
)
select
    s.condition,
    if(o.condition_id is null, first_value(s.condition) over (order by s.is_named desc, s.place), b.condition) as baseline
from shown as s
left join own as o using (condition_id)
left join shown as b on b.condition_id = o.baseline_id
order by s.is_named desc, s.place
