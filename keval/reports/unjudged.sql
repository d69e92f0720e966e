-- One row per condition and agent with answers that no judge scored or failed to score, though one was to judge them: they
-- are in its share; and how many of them there is nothing to compare with: all judges are of pairs, and a baseline of theirs
-- failed. Only judgments have an answer.
with judge as (
    select distinct judge_id, seed, below from metrics left join sampling using (judge_id)
),
without_pair as (
    select distinct p.condition_id, t.agent_id, t.sample_id, t.repetition
    from judge_baselines as p
    join tasks as t on t.condition_id = p.baseline_id
    join conditions as c on c.condition_id = t.condition_id and c.agent_id = t.agent_id
    where p.of_pairs and t.failed is not null and c.current
        and not exists (
            from metrics where computed is null and judge_id not in (select judge_id from judge_baselines where of_pairs)
        )
),
unscored as (
    select position
    from standing
    anti join (
        select answer as position from standing where current and answer is not null
    ) as scored using (position)
    where current and answer is null
)
select condition_id, agent_id, count(*) - count(w.sample_id) as count, count(w.sample_id) as unpaired
from events as e
semi join unscored using (position)
left join without_pair as w using (condition_id, agent_id, sample_id, repetition)
anti join (select response_id from failure_facts where current and stage = 'judge') as f on f.response_id = e.id
where e.type = 'response' and (
    not exists (from sampling) or exists (
        from judge as j
        where session.in_share(j.seed, j.below, e.repetition, e.sample_id)
    )
)
group by condition_id, agent_id
