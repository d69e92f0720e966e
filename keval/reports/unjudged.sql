-- One row per condition and agent with answers that no judge scored or failed to score, though one was to judge them: they
-- are in its share. Only judgments have an answer.
with judge as (
    select distinct judge_id, seed, below from metrics left join sampling using (judge_id)
),
unscored as (
    select position
    from line_standings
    anti join (
        select answer as position from line_standings where current and answer is not null
    ) as scored using (position)
    where current and answer is null
)
select condition_id, agent_id, count(*) as count
from events as e
semi join unscored using (position)
anti join (select response_id from failure_facts where current and stage = 'judge') as f on f.response_id = e.id
where e.type = 'response' and (
    not exists (from sampling) or exists (
        from judge as j
        where j.below is null or substr(sha256(j.seed || ' ' || e.repetition || ' ' || e.sample_id), 1, 13) < j.below
    )
)
group by condition_id, agent_id
