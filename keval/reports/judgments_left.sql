-- One row per judge that the newest run of a config names, or that was added to the log, and that can be asked, if there are
-- current responses for it, or pairs of them: how many judgments of them it is to make and has not made, and of these, in how
-- many it failed. Of a share: see sampling.
with judge as (
    select name, judge_id, is_added, replicates, seed, below, judge_id in (from pair_judges) as of_pairs
    from current_judges
    left join sampling using (judge_id)
    where type <> 'imported'
),
-- Read twice rather than kept: where no judge judges a share, nothing is read the second time.
current_line as not materialized (
    -- What the newest plan leaves out nobody is to judge, also where --all takes it.
    select type, judge_id, replicate, repetition, sample_id, question_id, condition_id, agent_id
    from current_lines
    where condition_id in (select unnest(map_values(conditions)).condition_id from newest_config)
        and position not in (select position from standing where not coalesce(planned, true))
),
line as (
    -- Lines are counted by what they are before they meet the judges: there are millions of them, and few judges of a share.
    select type, judge_id, replicate, count(*) as number
    from current_line
    group by type, judge_id, replicate
),
comparing as (
    select p.* from judge_baselines as p join judge as j using (judge_id) where j.of_pairs
),
pair as (
    -- A pair is to be judged as soon as both answers are there. Without a judge of pairs no line is read for it.
    select p.judge_id, e.repetition, e.sample_id
    from (from current_line where type = 'response' and condition_id in (select condition_id from comparing)) as e
    join comparing as p using (condition_id)
    join (from current_line where type = 'response' and condition_id in (select baseline_id from comparing)) as o
        on o.condition_id = p.baseline_id and o.question_id = e.question_id and o.agent_id = e.agent_id
        and o.repetition = e.repetition
),
told as (
    select judge.*, type, number
    from line, judge
    where below is null
        and if(
            type = 'response', not of_pairs,
            line.judge_id = judge.judge_id and replicate <= replicates
        )
    union all
    select judge.*, type, 1
    from current_line as line, (from judge where below is not null) as judge
    where if(
            type = 'response', not of_pairs,
            line.judge_id = judge.judge_id and replicate <= replicates
        )
        and session.in_share(seed, below, repetition, sample_id)
    union all
    select judge.*, 'response', 1
    from judge
    join pair using (judge_id)
    where session.in_share(seed, below, repetition, sample_id)
),
counted as (
    -- An open failure is of a response without a judgment of the judge, so of all its replicates.
    select
        name,
        judge_id,
        is_added,
        of_pairs,
        coalesce(replicates * sum(number) filter (type = 'response'), 0)::bigint as planned,
        coalesce(sum(number) filter (type = 'judgment'), 0)::bigint as made,
        coalesce(replicates * sum(number) filter (type = 'failure'), 0)::bigint as failed
    from told
    group by name, judge_id, is_added, of_pairs, replicates
)
select name as judge, judge_id, is_added, of_pairs, greatest(planned - made - failed, 0) as missing, failed
from counted
order by name
