-- One row per current condition, the one that others are compared with first: the config's baseline, or its first one.
with named as (
    select config ->> '$.baseline' as baseline
    from run_facts
    where cardinality(conditions) > 0
    order by rank desc
    limit 1
)
select condition, coalesce(condition = (select baseline from named), false) as is_named
from conditions
where current
order by is_named desc, place
