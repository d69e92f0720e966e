-- One row: names of conditions in their order, and ids of judges in the config's order, those of the newest run first, and
-- last those that only runs without conditions name, as they were added to a log.
with listed as (
    select
        rank, has_config,
        unnest(judges) as judge, generate_subscripts(judges, 1) as place
    from run_facts
)
select
    (select list(condition order by place) from conditions) as names,
    (
        select list(judge.judge_id order by is_configured desc, rank desc, place)
        from (select *, bool_or(has_config) over (partition by judge.name) as is_configured from listed)
    ) as judge_ids
