-- One row per judge that a run named and condition with whose answers it compares, if it is a judge of pairs: the condition of its
-- option baseline, else that of the config, else the first one. A judge that no config names any more, or that never was in
-- one, compares with the baseline of every config. Imports are one config together, as each has a part of the conditions.
-- of_pairs: a run said that it is one.
with config as (
    select
        rank, command = 'import' as imported, if(command = 'import', null, config_name) as config_name,
        config ->> '$.baseline' as baseline, conditions,
        list_transform(judges, lambda judge: judge.judge_id) as judge_ids
    from run_facts
    where cardinality(conditions) > 0
    qualify imported or rank = max(rank) over (partition by imported, config_name)
),
condition as (
    select
        imported, config_name, rank, baseline,
        unnest(map_keys(conditions)) as condition, unnest(map_values(conditions)).condition_id as condition_id,
        generate_subscripts(map_keys(conditions), 1) as ordinal
    from config
),
named as (
    select distinct imported, config_name, unnest(judge_ids) as judge_id from config
),
judge as (
    select
        judge.judge_id as judge_id, judge.parameters ->> '$.baseline' as baseline,
        bool_or(judge.type = 'pairwise' or judge.unit is not null) as of_pairs
    from (select unnest(judges) as judge from run_facts)
    group by all
),
compared as (
    select j.judge_id, j.baseline, j.of_pairs, c.imported, c.config_name
    from judge as j
    cross join (select distinct imported, config_name from config) as c
    left join named as n
        on n.judge_id = j.judge_id and n.imported = c.imported and n.config_name is not distinct from c.config_name
    where n.judge_id is not null or j.judge_id not in (select judge_id from named)
)
select distinct
    j.judge_id, j.of_pairs,
    first(
        c.condition_id
        order by
            coalesce(c.condition = coalesce(j.baseline, c.baseline), false) desc,
            c.imported and c.condition = 'baseline' desc, c.rank, c.ordinal
    ) as condition_id
from compared as j
join condition as c on c.imported = j.imported and c.config_name is not distinct from j.config_name
group by j.judge_id, j.of_pairs, j.imported, j.config_name
