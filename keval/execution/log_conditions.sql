-- One row per condition of the newest run of a config, or of all imports if that is one: its name and id. The first row is
-- the baseline, with whose answers judges of pairs compare unless they name another.
with run as (
    select rank, command = 'import' as imported, config ->> '$.baseline' as baseline, conditions
    from run_facts
    where cardinality(conditions) > 0
),
condition as (
    select
        rank, imported, baseline,
        unnest(map_keys(conditions)) as condition, unnest(map_values(conditions)).condition_id as condition_id,
        generate_subscripts(map_keys(conditions), 1) as ordinal
    from run
    where if((select arg_max(imported, rank) from run), imported, rank = (select max(rank) from run))
)
select condition, arg_max(condition_id, rank)
from condition
group by condition
order by
    bool_or(coalesce(condition = baseline, false)) desc, bool_or(imported) and condition = 'baseline' desc,
    min(rank), min(ordinal)
