-- One row per config and condition of its newest run; of imports, which each bring a part of the conditions, of all of one name.
-- place: 1 is the baseline: the condition that the newest run names as such, else of imports the one called baseline, else the first.
with run as (
    select
        command = 'import' as imported, config_name, rank, first_position, config ->> '$.baseline' as baseline, conditions,
        rank = max(rank) over (partition by command = 'import', config_name) as is_newest
    from run_facts
    where has_config
),
condition as (
    select
        imported, config_name, rank, first_position, max(if(is_newest, baseline, null)) over (partition by imported, config_name) as baseline,
        map_keys(conditions) as names, map_values(conditions) as described
    from run
    where imported or is_newest
),
named as (
    select
        imported, config_name, rank, first_position, baseline,
        unnest(names) as condition, unnest(described).condition_id as condition_id, generate_subscripts(names, 1) as ordinal
    from condition
)
select
    imported, config_name, condition, arg_max(condition_id, rank) as condition_id,
    max(max(rank)) over (partition by imported, config_name) as rank,
    row_number() over (
        partition by imported, config_name
        order by
            bool_or(coalesce(condition = baseline, false)) desc, imported and condition = 'baseline' desc,
            min(first_position), min(ordinal)
    ) as place
from named
group by imported, config_name, condition
