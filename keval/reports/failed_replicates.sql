-- One row per judge: how many replicates failed of answers of which it made other judgments. None of these is an open failure.
-- What the newest plan leaves out nobody is to judge.
with judge as (
    select judge_id, replicates, seed, below from current_judges left join sampling using (judge_id) where type <> 'imported'
),
failure as materialized (
    select f.response_id, f.judge_id, f.replicate, f.position
    from events as f
    join judge as j on j.judge_id = f.judge_id and f.replicate <= j.replicates
    where f.type = 'failure' and f.stage = 'judge'
        and f.position in (select position from standing where counts and not current)
        and session.in_share(j.seed, j.below, f.repetition, f.sample_id)
),
judgment as materialized (
    select response_id, judge_id, replicate
    from current_lines
    where type = 'judgment' and response_id in (select response_id from failure)
),
response as (
    select id, position
    from current_lines
    where type = 'response' and id in (select response_id from failure)
        and position not in (select position from standing where not coalesce(planned, true))
)
select f.judge_id, count(distinct (f.response_id, f.replicate)) as number
from failure as f
join response as r on r.id = f.response_id and r.position < f.position
semi join judgment as other on other.response_id = f.response_id and other.judge_id = f.judge_id
anti join judgment as made
    on made.response_id = f.response_id and made.judge_id = f.judge_id and made.replicate = f.replicate
group by f.judge_id
