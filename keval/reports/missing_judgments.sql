-- One row per judge of single answers that the newest run of a config names and that can be asked: how many judgments of
-- current responses it is to make and has not made, and of these, in how many it failed. Of a share: see sampling.
with judge as (
    select unnest(judges, max_depth := 2)
    from (select judges from run_facts where cardinality(conditions) > 0 order by rank desc limit 1)
),
asked as (
    select name, j.judge_id, greatest(coalesce(replicates, 1), 1) as replicates, seed, below
    from judge as j
    left join sampling using (judge_id)
    where type not in ('pairwise', 'imported')
),
expected as (
    select judge_id, sum(replicates) as judgments
    from (
        select repetition, sample_id
        from events
        where type = 'response' and position in (select position from line_standings where current and answer is null)
    ) as r, asked
    where below is null or substr(sha256(seed || ' ' || r.repetition || ' ' || r.sample_id), 1, 13) < below
    group by judge_id
),
made as (
    select a.judge_id, count(distinct (j.answer, j.replicate)) as judgments
    from judgment_facts as j
    join asked as a using (judge_id)
    where current and j.replicate <= a.replicates
        and (below is null or substr(sha256(seed || ' ' || j.repetition || ' ' || j.sample_id), 1, 13) < below)
    group by a.judge_id
),
failed as (
    select a.judge_id, count(distinct (f.response_id, f.replicate)) as judgments
    from failure_facts as f
    join asked as a using (judge_id)
    where current and stage = 'judge' and f.replicate <= a.replicates
        and (below is null or substr(sha256(seed || ' ' || f.repetition || ' ' || f.sample_id), 1, 13) < below)
    group by a.judge_id
)
select
    a.name as judge,
    greatest(coalesce(e.judgments, 0) - coalesce(m.judgments, 0) - coalesce(f.judgments, 0), 0)::bigint as missing,
    coalesce(f.judgments, 0)::bigint as failed
from asked as a
left join expected as e using (judge_id)
left join made as m using (judge_id)
left join failed as f using (judge_id)
order by a.name
