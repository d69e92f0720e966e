-- One row per condition, agent, judge, metric and sample that was tried: judgments were averaged to a response's score,
-- responses (and failures of the agent, as the scale's minimum) are averaged to the sample's mean.
-- mean is null when nothing of the sample has a value. mean_lower and mean_upper put the scale's minimum and maximum
-- in the place of what was not measured or not done.
with cell as (
    select
        c.*, m.current, m.planned_repetitions as planned, m.condition_place, m.metric_place,
        -- A column of its own: an aggregate below called min would hide this one.
        c.min as worst, c.max as best
    from cells as c
    join measures as m using (condition_id, agent_id, judge_id, metric)
),
counted as (
    select
        condition, condition_id, agent_id, current, judge, judge_id, metric, worst, best, sample_id,
        condition_place, metric_place, planned,
        count(*) as tried,
        count(value) as valued,
        sum(value) as total,
        avg(value) as mean,
        avg(score) as mean_completed,
        count(*) filter (state = 'scored') as scored,
        count(*) filter (state = 'agent_failed') as agent_failed,
        count(*) filter (state = 'not_measured') as not_measured,
        case when max(value) - min(value) <= 1e-9 and count(value) > 1 then 0 else var_samp(value) end
            as var_over_repetitions,
        sum(n_responses)::bigint as n_responses,
        sum(n_judgments)::bigint as n_judgments,
        list(kind order by kind) filter (kind is not null) as kinds,
        bool_or(mock) as mock
    from cell
    group by all
)
select
    condition, condition_id, agent_id, current, judge, judge_id, metric, sample_id, worst as min, best as max,
    mean, mean_completed,
    (coalesce(total, 0) + (greatest(tried, coalesce(planned, 0)) - valued) * worst) / greatest(tried, coalesce(planned, 0))
        as mean_lower,
    (coalesce(total, 0) + (greatest(tried, coalesce(planned, 0)) - valued) * best) / greatest(tried, coalesce(planned, 0))
        as mean_upper,
    planned, scored, agent_failed, not_measured,
    -- greatest() alone would make 0 of an unknown plan: it passes over nulls.
    if(planned is null, null, greatest(planned - scored - agent_failed - not_measured, 0)) as not_done,
    n_responses, n_judgments,
    var_over_repetitions, sqrt(var_over_repetitions) as sd_over_repetitions,
    coalesce(kinds, []) as kinds, coalesce(list_aggregate(kinds, 'histogram'), map()) as failed, mock, condition_place, metric_place
from counted
