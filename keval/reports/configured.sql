-- One row: names of conditions in their order, and ids of judges in the config's order, those of the newest run first.
select
    (select list(condition order by place) from conditions) as names,
    (
        select list(judge_id order by rank desc, place)
        from (
            select rank, unnest(judges).judge_id as judge_id, generate_subscripts(judges, 1) as place from run_facts
        )
    ) as judge_ids
