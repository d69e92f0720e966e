-- One row per condition of several logs, judge and metric: what became of the samples that another of the logs tried, too, and
-- between what their mean lies whatever is missing. Of a sample that a log planned and never tried nothing says whether it is
-- one of them: it counts as missing.
with shared as (
    select sample_id
    from sample_means
    where tried > 0
    group by sample_id
    having count(distinct split_part(condition_id, ':', 1)) > 1
),
sample as (
    select
        s.*, m.min, m.max, sample_id in (from shared) as is_shared,
        -- As in condition_means and condition_scores.
        if(tried = 0, 0, planned - scored - agent_failed - not_measured - not_applicable - not_sampled) as not_done
    from sample_means as s
    join metrics as m using (judge_id, metric)
),
counted as (
    select
        condition_id, judge_id, metric, any_value(min) as min, any_value(max) as max,
        coalesce(sum(scored) filter (is_shared), 0)::bigint as scored,
        coalesce(sum(agent_failed) filter (is_shared), 0)::bigint as agent_failed,
        coalesce(sum(not_measured) filter (is_shared), 0)::bigint as not_measured,
        coalesce(sum(not_applicable) filter (is_shared), 0)::bigint as not_applicable,
        coalesce(sum(not_done) filter (not is_shared), 0)::bigint as not_done_elsewhere,
        list_aggregate(flatten(list(kinds) filter (is_shared)), 'histogram') as failed,
        fsum(session.mean_if(total, counting, valued, min)) filter (is_shared) as total_lower,
        fsum(session.mean_if(total, counting, valued, max)) filter (is_shared) as total_upper,
        count(*) filter (is_shared and counting > 0) as possible
    from sample
    group by condition_id, judge_id, metric
)
select
    condition_id, judge_id, metric, scored, agent_failed, not_measured, not_applicable, not_done_elsewhere, coalesce(failed, map()) as failed,
    (coalesce(total_lower, 0) + untried * min) / nullif(possible + untried, 0) as mean_lower,
    (coalesce(total_upper, 0) + untried * max) / nullif(possible + untried, 0) as mean_upper
from counted
join untried_samples using (condition_id, judge_id, metric)
