-- One row per condition, agent, judge and metric; statistics over the samples' means, each sample weighing the same.
-- sd_between_samples is the SD of those means, se = sd_between_samples / sqrt(n_samples); sd_within_sample is
-- the SD of one sample's repetitions, pooled over samples: sqrt(sum((r - 1) * s^2) / sum(r - 1)).
-- mean_lower and mean_upper are the mean if all that was not measured or not done scored the minimum, or the maximum; what
-- is not applicable, or not sampled, is in no number.
-- computed is the type of formula, null for what a judge scored; mean_tokens and score_of_means: see computed_means.
-- n_unlike counts the samples whose repetitions have not all the same value.
-- se_repeat is that of the same samples asked again; se_clustered and n_clusters: see cluster_errors; the components of the
-- variance: see variance_components. is_pass_fail: all scores are 0 or 1; has_shares: some samples pass now and then.
-- A number that is not defined is null. planned and not_done are null when no run says what was planned.
select
    c.condition, condition_id, agent_id, c.current, m.judge, judge_id, metric, m.min, m.max,
    s.planned, s.scored, s.agent_failed, s.not_measured,
    s.planned - s.scored - s.agent_failed - s.not_measured - s.not_applicable - s.not_sampled as not_done,
    s.not_applicable, s.not_sampled, s.empty, s.refused, s.cut_off,
    coalesce(list_aggregate(s.kinds, 'histogram'), map()) as failed,
    s.n_samples, s.n_responses, s.n_judgments, s.untried,
    s.mean, s.mean_complete_case,
    (s.total_lower + s.untried * m.min) / nullif(s.expected, 0) as mean_lower,
    (s.total_upper + s.untried * m.max) / nullif(s.expected, 0) as mean_upper,
    s.var_between_samples, sqrt(s.var_between_samples) as sd_between_samples,
    s.var_within_sample, sqrt(s.var_within_sample) as sd_within_sample, s.n_unlike,
    sqrt(s.var_between_samples / s.n_samples) as se,
    c.has_clusters, g.n_clusters, g.unclustered, g.se_clustered, s.se_repeat, s.n_trials, s.is_pass_fail, s.has_shares, c.failures,
    v.* exclude (condition_id, agent_id, judge_id, metric, of_sample, within_sample),
    s.mock, c.place as condition_place, m.place as metric_place,
    m.computed, x.mean_tokens, x.score_of_means, x.se_of_means
from condition_means as s
join conditions as c using (condition_id, agent_id)
join metrics as m using (judge_id, metric)
left join variance_components as v using (condition_id, agent_id, judge_id, metric)
left join cluster_errors as g using (condition_id, agent_id, judge_id, metric)
left join computed_means as x using (condition_id, agent_id, judge_id, metric)
