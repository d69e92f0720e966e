-- One row per judge that a run named, condition, and other condition with whose answers it compares those of the first, if it is
-- a judge of pairs: the one of its option baseline, else the baseline of the config. A judge that no config names any more, or that never
-- was in one, compares within every config. of_pairs: a run said that it is one.
with judge as (
    select distinct
        judge.judge_id as judge_id, judge.parameters ->> '$.baseline' as baseline,
        judge.judge_id in (from pair_judges) as of_pairs
    from (select unnest(judges) as judge from run_facts)
),
named as (
    select distinct r.command = 'import' as imported, r.config_name, unnest(r.judges).judge_id as judge_id
    from run_facts as r
    join (select distinct imported, config_name, rank from config_conditions) as c
        on c.imported = (r.command = 'import') and c.config_name is not distinct from r.config_name
        and (c.imported or c.rank = r.rank)
    where cardinality(r.conditions) > 0
),
compared as (
    select j.judge_id, j.of_pairs, c.imported, c.config_name,
        first(c.condition_id order by coalesce(c.condition = j.baseline, false) desc, c.place) as baseline_id
    from judge as j
    cross join config_conditions as c
    left join named as n
        on n.judge_id = j.judge_id and n.imported = c.imported and n.config_name is not distinct from c.config_name
    where n.judge_id is not null or j.judge_id not in (select judge_id from named)
    group by all
)
select distinct j.judge_id, j.of_pairs, c.condition_id, j.baseline_id
from compared as j
join config_conditions as c on c.imported = j.imported and c.config_name is not distinct from j.config_name
