-- One row per judge of single answers that the newest run of a config names, or that was added to the log, and that can be
-- asked, if there are current responses for it: how many judgments of them it is to make and has not made, and of these, in
-- how many it failed. Of a share: see sampling.
with run as (
    select conditions from run_facts where cardinality(conditions) > 0 order by rank desc limit 1
),
judge as (
    select name, judge_id, is_added, replicates, seed, below
    from current_judges
    left join sampling using (judge_id)
    where type <> 'imported' and judge_id not in (from pair_judges)
),
-- Read twice rather than kept: where no judge judges a share, nothing is read the second time.
current_line as not materialized (
    -- What the newest plan leaves out nobody is to judge, also where --all takes it.
    select type, judge_id, replicate, repetition, sample_id
    from current_lines
    where (type <> 'failure' or stage = 'judge')
        and condition_id in (select unnest(map_values(conditions)).condition_id from run)
        and position not in (select position from line_standings where not coalesce(planned, true))
),
line as (
    -- Lines are counted by what they are before they meet the judges: there are millions of them, and few judges of a share.
    select type, judge_id, replicate, count(*) as number
    from current_line
    group by type, judge_id, replicate
),
told as (
    select judge.*, type, number
    from line, judge
    where below is null and (type = 'response' or (line.judge_id = judge.judge_id and replicate <= replicates))
    union all
    select judge.*, type, 1
    from current_line as line, (from judge where below is not null) as judge
    where (type = 'response' or (line.judge_id = judge.judge_id and replicate <= replicates))
        and session.in_share(seed, below, repetition, sample_id)
),
counted as (
    -- An open failure is of a response without a judgment of the judge, so of all its replicates.
    select
        name,
        judge_id,
        is_added,
        coalesce(replicates * sum(number) filter (type = 'response'), 0)::bigint as planned,
        coalesce(sum(number) filter (type = 'judgment'), 0)::bigint as made,
        coalesce(replicates * sum(number) filter (type = 'failure'), 0)::bigint as failed
    from told
    group by name, judge_id, is_added, replicates
)
select name as judge, is_added, greatest(planned - made - failed, 0) as missing, failed
from counted
order by name
