-- One row per judge of single answers that the newest run of a config names and that can be asked, if there are current
-- responses for it: how many judgments of them it is to make and has not made, and of these, in how many it failed. Of a
-- share: see sampling.
with run as (
    select judges, conditions from run_facts where cardinality(conditions) > 0 order by rank desc limit 1
),
judge as (
    select name, j.judge_id, greatest(coalesce(replicates, 1), 1) as replicates, seed, below
    from (select unnest(judges, max_depth := 2) from run) as j
    left join sampling using (judge_id)
    where type not in ('pairwise', 'imported')
),
current_line as (
    -- What the newest plan leaves out nobody is to judge, also where --all takes it.
    select type, stage, judge_id, replicate, repetition, sample_id
    from current_lines
    where condition_id in (select unnest(map_values(conditions)).condition_id from run)
        and position not in (select position from line_standings where not coalesce(planned, true))
),
told as (
    select judge.*, type, repetition, sample_id
    from current_line, judge
    where type = 'response'
    union all
    select judge.*, type, repetition, sample_id
    from current_line as l
    join judge on judge.judge_id = l.judge_id
    where replicate <= replicates and (type = 'judgment' or (type = 'failure' and stage = 'judge'))
),
counted as (
    -- An open failure is of a response without a judgment of the judge, so of all its replicates.
    select
        name,
        judge_id,
        replicates * count(*) filter (type = 'response') as planned,
        count(*) filter (type = 'judgment') as made,
        replicates * count(*) filter (type = 'failure') as failed
    from told
    where below is null or substr(sha256(seed || ' ' || repetition || ' ' || sample_id), 1, 13) < below
    group by name, judge_id, replicates
)
select name as judge, greatest(planned - made - failed, 0) as missing, failed
from counted
order by name
