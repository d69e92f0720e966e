-- One row per sample, condition, baseline, agent, judge and metric with a value under one of the two at least.
-- mean and baseline_mean are the sample's means, over n and baseline_n repetitions with a value; difference is the first
-- minus the second, null where one has none. result: win, tie or loss of the condition; a difference that is float noise
-- beside the values is a tie.
with paired as (
    select
        p.condition_id, p.baseline_id, p.agent_id, p.judge_id, p.metric, s.sample_id,
        sum(s.mean) filter (s.condition_id = p.condition_id) as mean,
        sum(s.mean) filter (s.condition_id = p.baseline_id) as baseline_mean,
        coalesce(sum(s.valued) filter (s.condition_id = p.condition_id), 0)::bigint as n,
        coalesce(sum(s.valued) filter (s.condition_id = p.baseline_id), 0)::bigint as baseline_n,
        max(s.largest) as largest,
        bool_or(s.mock) as mock
    from compared_series as p
    join sample_means as s on s.agent_id = p.agent_id and s.judge_id = p.judge_id and s.metric = p.metric
        and s.condition_id in (p.condition_id, p.baseline_id)
    where s.mean is not null
    group by all
)
select
    c.condition, p.condition_id, b.condition as baseline, p.baseline_id, p.agent_id, m.judge, p.judge_id, p.metric,
    p.sample_id,
    p.mean, p.baseline_mean, p.mean - p.baseline_mean as difference,
    case
        when abs(difference) <= $noise * p.largest then 'tie'
        when difference > 0 then 'win'
        when difference < 0 then 'loss'
    end as result,
    p.n, p.baseline_n, p.largest, p.mock
from paired as p
join conditions as c on c.condition_id = p.condition_id and c.agent_id = p.agent_id
join conditions as b on b.condition_id = p.baseline_id and b.agent_id = p.agent_id
join metrics as m on m.judge_id = p.judge_id and m.metric = p.metric
