-- One row per condition, agent, judge, metric and sample that was tried: judgments were averaged to a response's score,
-- responses (and failures of the agent, as the scale's minimum) are averaged to the sample's mean.
-- mean is null when nothing of the sample has a value. mean_lower and mean_upper put the scale's minimum and maximum
-- in the place of what was not measured or not done; what is not applicable, or not sampled, is in no number. planned and not_done count
-- repetitions. largest is the largest absolute value: what is small beside it is float noise.
select
    c.condition, condition_id, agent_id, c.current, m.judge, judge_id, metric, s.sample_id, m.min, m.max,
    s.planned, s.scored, s.agent_failed, s.not_measured,
    s.planned - s.scored - s.agent_failed - s.not_measured - s.not_applicable - s.not_sampled as not_done,
    s.not_applicable, s.not_sampled,
    coalesce(list_aggregate(s.kinds, 'histogram'), map()) as failed,
    s.empty, s.refused, s.cut_off, s.n_responses, s.n_judgments,
    s.mean, s.mean_complete_case,
    session.mean_if(s.total, s.counting, s.valued, m.min) as mean_lower,
    session.mean_if(s.total, s.counting, s.valued, m.max) as mean_upper,
    s.var_within_sample, sqrt(s.var_within_sample) as sd_within_sample,
    s.mock, s.kinds, s.largest, c.place as condition_place, m.place as metric_place,
    m.computed
from sample_means as s
join conditions as c using (condition_id, agent_id)
join metrics as m using (judge_id, metric)
where s.tried + s.unplanned > 0
