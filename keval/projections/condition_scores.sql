-- One row per condition, agent, judge and metric; statistics over the samples' means, each sample weighing the same.
-- sd_between_samples is the SD of those means, se = sd_between_samples / sqrt(n_samples); sd_within_sample is
-- the SD of one sample's repetitions, pooled over samples: sqrt(sum((r - 1) * s^2) / sum(r - 1)).
-- mean_lower and mean_upper are the mean if all that was not measured or not done scored the minimum, or the maximum; what
-- is not applicable is in no number.
-- A number that is not defined is null. planned and not_done are null when no run says what was planned.
select
    c.condition, condition_id, agent_id, c.current, m.judge, judge_id, metric, m.min, m.max,
    s.planned, s.scored, s.agent_failed, s.not_measured,
    if(s.planned is null, null, s.planned - s.scored - s.agent_failed - s.not_measured - s.not_applicable) as not_done,
    s.not_applicable,
    coalesce(list_aggregate(s.kinds, 'histogram'), map()) as failed,
    s.n_samples, s.n_responses, s.n_judgments,
    s.mean, s.mean_complete_case,
    (s.total_lower + s.untried * m.min) / nullif(s.expected, 0) as mean_lower,
    (s.total_upper + s.untried * m.max) / nullif(s.expected, 0) as mean_upper,
    s.var_between_samples, sqrt(s.var_between_samples) as sd_between_samples,
    s.var_within_sample, sqrt(s.var_within_sample) as sd_within_sample,
    sqrt(s.var_between_samples / s.n_samples) as se,
    s.mock, c.place as condition_place, m.place as metric_place
from condition_means as s
join conditions as c using (condition_id, agent_id)
join metrics as m using (judge_id, metric)
