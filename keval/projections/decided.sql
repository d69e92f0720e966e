-- One row per sample mean: decided are the trials that pass or fail by these verdicts, passes those that pass.
with verdict as (
    select condition_id, agent_id, judge_id, metric, sample_id, repetition, passed from ($verdicts)
    union all
    select condition_id, agent_id, judge_id, metric, sample_id, repetition, passed
    from computed_scores
    where score is not null and answer not in (select position from response_facts where not planned)
),
trial as (
    select condition_id, agent_id, judge_id, metric, sample_id, repetition, bool_and(passed) as passed
    from verdict
    where passed is not null
    group by all
),
sample as (
    select condition_id, agent_id, judge_id, metric, sample_id, count(*) as decided, count(*) filter (passed) as passes
    from trial
    group by all
)
select s.* exclude (decided, passes), coalesce(d.decided, 0) as decided, coalesce(d.passes, 0) as passes
from sample_means as s
left join sample as d using (condition_id, agent_id, judge_id, metric, sample_id)
