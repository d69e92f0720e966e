-- One row per condition, agent, judge, metric and sample that was tried: judgments were averaged to a response's score,
-- responses (and failures of the agent, as the scale's minimum) are averaged to the sample's mean.
-- mean is null when nothing of the sample has a value. mean_lower and mean_upper put the scale's minimum and maximum
-- in the place of what was not measured or not done. planned and not_done count repetitions. largest is the largest
-- absolute value: what is small beside it is float noise.
with counted as (
    select
        m.condition, m.condition_id, m.agent_id, m.current, m.judge, m.judge_id, m.metric, c.sample_id, m.min, m.max,
        m.planned_repetitions as planned, m.condition_place, m.metric_place,
        count(c.value) as valued,
        greatest(count(*), coalesce(m.planned_repetitions, 0)) as expected,
        sum(c.value) as total,
        avg(c.value) as mean,
        avg(c.score) as mean_complete_case,
        count(*) filter (c.state = 'scored') as scored,
        count(*) filter (c.state = 'agent_failed') as agent_failed,
        count(*) filter (c.state = 'not_measured') as not_measured,
        sum(c.n_responses)::bigint as n_responses,
        sum(c.n_judgments)::bigint as n_judgments,
        max(abs(c.value)) as largest,
        -- Values that differ by float noise only do not differ.
        case when max(c.value) - min(c.value) <= $noise * max(abs(c.value)) and count(c.value) > 1 then 0 else var_samp(c.value) end
            as var_within_sample,
        coalesce(list(c.kind order by c.kind) filter (c.kind is not null), []) as kinds,
        bool_or(c.mock) as mock
    from outcomes as c
    join series as m using (condition_id, agent_id, judge_id, metric)
    group by
        m.condition, m.condition_id, m.agent_id, m.current, m.judge, m.judge_id, m.metric, c.sample_id, m.min, m.max,
        m.planned_repetitions, m.condition_place, m.metric_place
)
select
    condition, condition_id, agent_id, current, judge, judge_id, metric, sample_id, min, max,
    planned, scored, agent_failed, not_measured,
    -- greatest() alone would make 0 of an unknown plan: it passes over nulls.
    if(planned is null, null, greatest(planned - scored - agent_failed - not_measured, 0)) as not_done,
    coalesce(list_aggregate(kinds, 'histogram'), map()) as failed,
    n_responses, n_judgments,
    mean, mean_complete_case,
    (coalesce(total, 0) + (expected - valued) * min) / expected as mean_lower,
    (coalesce(total, 0) + (expected - valued) * max) / expected as mean_upper,
    var_within_sample, sqrt(var_within_sample) as sd_within_sample,
    mock, kinds, largest, condition_place, metric_place
from counted
