-- One row per condition and agent with answers that no judge scored or failed to score, though one was to judge them: they
-- are in its share; and how many of them there is nothing to compare with: all judges are of pairs, and the baseline, which
-- the judge names or which is the config's first condition, failed. Only judgments have an answer.
with judge as (
    select distinct judge_id, seed, below from metrics left join sampling using (judge_id)
),
pairing as (
    select judge.judge_id as judge_id, coalesce(arg_max(judge.parameters ->> '$.baseline', rank), (
        select map_keys(conditions)[1] from run_facts where cardinality(conditions) > 0 order by rank desc limit 1
    )) as baseline
    from (select rank, unnest(judges) as judge from run_facts)
    where judge.type = 'pairwise'
    group by judge.judge_id
),
without_pair as (
    select agent_id, sample_id, repetition
    from tasks
    join conditions using (condition_id, agent_id)
    where failed is not null and current and condition in (select baseline from pairing)
        and not exists (from metrics where computed is null and judge_id not in (select judge_id from pairing))
),
unscored as (
    select position
    from line_standings
    anti join (
        select answer as position from line_standings where current and answer is not null
    ) as scored using (position)
    where current and answer is null
)
select condition_id, agent_id, count(*) - count(w.sample_id) as count, count(w.sample_id) as unpaired
from events as e
semi join unscored using (position)
left join without_pair as w using (agent_id, sample_id, repetition)
anti join (select response_id from failure_facts where current and stage = 'judge') as f on f.response_id = e.id
where e.type = 'response' and (
    not exists (from sampling) or exists (
        from judge as j
        where j.below is null or substr(sha256(j.seed || ' ' || e.repetition || ' ' || e.sample_id), 1, 13) < j.below
    )
)
group by condition_id, agent_id
