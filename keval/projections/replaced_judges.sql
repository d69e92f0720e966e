-- One row per judge that a run of a config named, and that the newest run of that config does not name any more: it was
-- edited, or taken out. Its judgments stay in the log and are not current, unless somebody judged with it apart from the config.
-- And one per judge that was added apart from a config and had judged nothing when another one of its name was added: it was
-- mended. And one per judge that was added so and of which everything was taken back since.
with run as (
    select
        position, rank, judges, list_transform(judges, lambda judge: judge.judge_id) as judge_ids,
        has_config,
        -- As in plans: imports of other conditions stand beside each other.
        {name: config_name, imported: if(command = 'import', map_keys(conditions), null)} as config
    from run_facts
),
of_config as (
    select
        judge_ids, position, rank = max(rank) over (partition by config) as is_newest,
        -- By a later run that says more than it: a mock run replaces nothing real.
        (
            select min(later.position)
            from run as later
            where later.has_config and later.config is not distinct from run.config
                and later.rank > run.rank and later.position > run.position
        ) as replaced_at
    from run
    where has_config
),
named as (
    select unnest(judge_ids) as judge_id, position, is_newest, replaced_at from of_config
),
-- Named by no config at that time: `keval judge` without a judge takes those of the config.
added as (
    select judge_id, name, position
    from (select position, unnest(judges, max_depth := 2) from run where not has_config) as r
    where not exists (
        from named as n
        where n.judge_id = r.judge_id and n.position < r.position and coalesce(r.position < n.replaced_at, true)
    )
)
select judge_id
from named
where not $everything and judge_id not in (select judge_id from added)
group by judge_id
having not bool_or(is_newest)
union
select before.judge_id
from (select judge_id, name, max(position) as position from added group by judge_id, name) as before
join added as later on later.name = before.name and later.judge_id <> before.judge_id and later.position > before.position
where not $everything and not exists (
    -- Lines that are no more the last of their id say it, too: what is true of a log once, later lines do not change.
    from events as j
    where j.type = 'judgment' and j.judge_id = before.judge_id and j.position < later.position
        and j.id not in (select id from retracted)
        -- What the judge is not for it did not look at.
        and len(list_filter(map_values(j.scores), lambda given: not coalesce(given.outside, false))) > 0
)
union
select judge_id
from added
where not $everything
    and judge_id not in (select judge_id from named where is_newest)
    and judge_id not in (select judge_id from latest where type in ('judgment', 'failure') and judge_id is not null)
group by judge_id
having max(position) < (
    select max(r.position)
    from events as e
    join retracted as r using (id)
    where e.type in ('judgment', 'failure') and e.judge_id = added.judge_id
)
