-- One row per condition, agent, judge and metric; statistics over the samples' means, each sample weighing the same.
-- sd_between_samples is the SD of those means, se = sd_between_samples / sqrt(n_samples); sd_within_sample is
-- the SD of one sample's repetitions, pooled over samples: sqrt(sum((r - 1) * s^2) / sum(r - 1)).
-- mean_lower and mean_upper are the mean if all that was not measured or not done scored the minimum, or the maximum.
-- A number that is not defined is null. planned and not_done are null when no run says what was planned.
with counted as (
    select
        m.condition, m.condition_id, m.agent_id, m.current, m.judge, m.judge_id, m.metric, m.min, m.max, m.planned,
        m.condition_place, m.metric_place,
        coalesce(sum(s.scored), 0)::bigint as scored,
        coalesce(sum(s.agent_failed), 0)::bigint as agent_failed,
        coalesce(sum(s.not_measured), 0)::bigint as not_measured,
        flatten(list(s.kinds)) as kinds,
        count(s.mean) as n_samples,
        coalesce(sum(s.n_responses), 0)::bigint as n_responses,
        coalesce(sum(s.n_judgments), 0)::bigint as n_judgments,
        avg(s.mean) as mean,
        avg(s.mean_complete_case) as mean_complete_case,
        coalesce(sum(s.mean_lower), 0) as total_lower,
        coalesce(sum(s.mean_upper), 0) as total_upper,
        greatest(count(s.sample_id), coalesce(m.planned_samples, 0)) as expected,
        greatest(count(s.sample_id), coalesce(m.planned_samples, 0)) - count(s.sample_id) as untried,
        -- Means that differ by float noise only do not differ.
        case when max(s.mean) - min(s.mean) <= $noise * max(s.largest) and count(s.mean) > 1 then 0 else var_samp(s.mean) end
            as var_between_samples,
        sum((s.scored + s.agent_failed - 1) * s.var_within_sample)
            / sum(s.scored + s.agent_failed - 1) filter (s.var_within_sample is not null) as var_within_sample,
        coalesce(bool_or(s.mock), false) as mock
    from series as m
    left join sample_scores as s using (condition_id, agent_id, judge_id, metric)
    group by
        m.condition, m.condition_id, m.agent_id, m.current, m.judge, m.judge_id, m.metric, m.min, m.max, m.planned,
        m.planned_samples, m.condition_place, m.metric_place
)
select
    condition, condition_id, agent_id, current, judge, judge_id, metric, min, max,
    planned, scored, agent_failed, not_measured,
    -- greatest() alone would make 0 of an unknown plan: it passes over nulls.
    if(planned is null, null, greatest(planned - scored - agent_failed - not_measured, 0)) as not_done,
    coalesce(list_aggregate(kinds, 'histogram'), map()) as failed,
    n_samples, n_responses, n_judgments,
    mean, mean_complete_case,
    (total_lower + untried * min) / nullif(expected, 0) as mean_lower,
    (total_upper + untried * max) / nullif(expected, 0) as mean_upper,
    var_between_samples, sqrt(var_between_samples) as sd_between_samples,
    var_within_sample, sqrt(var_within_sample) as sd_within_sample,
    sqrt(var_between_samples / n_samples) as se,
    mock, condition_place, metric_place
from counted
