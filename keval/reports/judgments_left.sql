-- One row per judge of single answers that the newest run of a config names and that can be asked: how many judgments of
-- current responses it is to make and has not made, and of these, in how many it failed. Of a share: see sampling.
with run as (
    select judges, conditions from run_facts where cardinality(conditions) > 0 order by rank desc limit 1
),
judge as (
    select unnest(judges, max_depth := 2) from run
),
current_line as (
    -- What the newest plan leaves out nobody is to judge, also where --all takes it.
    from current_lines
    where condition_id in (select described.condition_id from run, unnest(map_values(conditions)) as each(described))
        and position not in (select position from line_standings where not coalesce(planned, true))
),
asked as (
    select name, j.judge_id, greatest(coalesce(replicates, 1), 1) as replicates, seed, below
    from judge as j
    left join sampling using (judge_id)
    where type not in ('pairwise', 'imported')
),
response as (
    select repetition, sample_id from current_line where type = 'response'
),
expected as (
    select judge_id, replicates * (select count(*) from response) as judgments from asked where below is null
    union all
    select judge_id, sum(replicates)
    from response as r
    join asked as a on substr(sha256(a.seed || ' ' || r.repetition || ' ' || r.sample_id), 1, 13) < a.below
    group by judge_id
),
made as (
    -- An open failure is of a response without a judgment of the judge, so of all its replicates.
    select judge_id, type, if(type = 'failure', any_value(a.replicates), 1) * count(*) as judgments
    from current_line as j
    join asked as a using (judge_id)
    where j.replicate <= a.replicates and (type = 'judgment' or (type = 'failure' and stage = 'judge'))
        and (below is null or substr(sha256(seed || ' ' || repetition || ' ' || sample_id), 1, 13) < below)
    group by judge_id, type
)
select
    a.name as judge,
    greatest(coalesce(e.judgments, 0) - coalesce(m.judgments, 0) - coalesce(f.judgments, 0), 0)::bigint as missing,
    coalesce(f.judgments, 0)::bigint as failed
from asked as a
left join expected as e using (judge_id)
left join (from made where type = 'judgment') as m using (judge_id)
left join (from made where type = 'failure') as f using (judge_id)
order by a.name
