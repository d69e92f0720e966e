-- One row per condition, agent, judge and metric, and per number of trials and of passes: how many samples have them, of each
-- cluster. trials are those that are planned and that the metric applies to: one that the agent failed did not pass.
-- unknown: trials of them that were not measured, or not done. decides: some verdict says pass or fail.
with verdict as (
    select condition_id, agent_id, judge_id, metric, sample_id, repetition, passed from ($verdicts)
    union all
    select condition_id, agent_id, judge_id, metric, sample_id, repetition, passed from computed_scores where score is not null
),
trial as (
    select condition_id, agent_id, judge_id, metric, sample_id, repetition, bool_and(passed) as passed
    from verdict
    where passed is not null
    group by all
),
decided as (
    select condition_id, agent_id, judge_id, metric, sample_id, count(*) as decided, count(*) filter (passed) as passes
    from trial
    group by all
),
sample as (
    select
        condition_id, agent_id, judge_id, metric, sample_id,
        s.expected - s.unplanned as trials, coalesce(d.passes, 0) as passes,
        greatest(trials - coalesce(d.decided, 0) - s.agent_failed, 0) as unknown,
        coalesce(d.decided, 0) > 0 as decides,
        if(c.has_clusters, coalesce(n.cluster, s.sample_id), null) as cluster
    from sample_means as s
    join conditions as c using (condition_id, agent_id)
    left join newest_samples as n using (sample_id)
    left join decided as d using (condition_id, agent_id, judge_id, metric, sample_id)
    where s.expected - s.unplanned > 0
)
select
    condition_id, agent_id, judge_id, metric, cluster, trials, passes,
    count(*) as samples, sum(unknown)::bigint as unknown, bool_or(decides) as decides
from sample
group by all
order by all
