-- One row per judge that the newest run of a config names, or that was added to the log apart from a config and not replaced
-- since, with the parameters of its newest run.
with added as (
    select *
    from (select rank, unnest(judges, max_depth := 2) from run_facts where not has_config)
    where judge_id not in (from replaced_judges)
        and judge_id not in (select judge.judge_id from (select unnest(judges) as judge from newest_config))
    qualify row_number() over (partition by judge_id order by rank desc) = 1
)
select judge_id, name, type, greatest(coalesce(replicates, 1), 1) as replicates, false as is_added
from (select unnest(judges, max_depth := 2) from newest_config)
union all by name
select judge_id, name, type, greatest(coalesce(replicates, 1), 1) as replicates, true as is_added
from added
