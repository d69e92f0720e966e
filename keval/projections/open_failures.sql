-- One row per failure of which nothing has come since. A task's failure counts until the task has a response, and not
-- again if that is retracted: then the task is not done. A judge's counts until the response has a judgment of that
-- judge; of several the last one counts; and only for what is current, in the share that the judge judges now.
with failed as (
    select position, stage, sample_id, condition_id, agent_id, repetition, response_id, judge_id
    from latest
    where type = 'failure'
),
response as (
    select e.id, e.condition_id, e.agent_id, e.sample_id, e.repetition, coalesce(s.current, true) as current
    from latest as e
    left join partly_planned as s using (position)
    where e.type = 'response' and exists (from failed)
),
judged as (
    select e.response_id, e.judge_id, e.condition_id, e.agent_id, e.sample_id, e.repetition
    from events as e
    join judgment_standings as s using (position)
    where s.current and exists (from failed)
),
answered as (
    select condition_id, agent_id, sample_id, repetition from response where current
    union all
    select condition_id, agent_id, sample_id, repetition from judged
)
select max(position) as position
from failed
anti join (from partly_planned where not current) as s using (position)
anti join answered using (condition_id, agent_id, sample_id, repetition)
anti join response as r on r.id = failed.response_id
anti join (
    select id, max(position) as position from events where type = 'response' and exists (from failed) group by id
) as later on later.id = failed.response_id and later.position > failed.position
where stage = 'generate'
group by condition_id, agent_id, sample_id, repetition
union all
select max(failed.position) as position
from failed
left join response as r on r.id = failed.response_id
left join retracted as gone on gone.id = failed.response_id
left join changed_answers as w on w.response_id = failed.response_id
left join condition_repetitions as p on p.condition_id = failed.condition_id and p.agent_id = failed.agent_id
left join sampling as d on d.judge_id = failed.judge_id
anti join judged on judged.response_id = failed.response_id and judged.judge_id = failed.judge_id
where stage = 'judge'
    and session.in_share(d.seed, d.below, failed.repetition, failed.sample_id)
    and failed.judge_id not in (from replaced_judges)
    and case
        when r.id is not null then r.current
        else gone.id is null
            and ($everything or not exists (from plans) or coalesce(p.repetitions >= failed.repetition, false))
    end
    and failed.position > coalesce(w.position, 0)
group by failed.response_id, failed.judge_id
