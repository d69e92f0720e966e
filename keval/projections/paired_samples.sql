-- One row per sample, condition, baseline, agent, judge and metric with a value or a failure of the agent, which is no value where the
-- config excludes them, under one of the two at least, or with answers that could have one.
-- mean and baseline_mean are the sample's means, over n and baseline_n repetitions with a value; the agent failed agent_failed
-- and baseline_agent_failed, which have a value unless the config excludes them; failure_difference is that of their shares of
-- what was answered or failed, null where one has neither, or the metric applies to nothing of both: a judge of pairs scores no
-- answer whose baseline failed, and that is an answer all the same, and so is one that was not measured. difference is the first mean minus the
-- second, null where one has none. result: win, tie or loss of the condition; a difference that is float noise beside the values is
-- a tie. cluster: what the sample has in common with those that belong to it; null if no config names a cluster_key.
with paired as (
    select
        p.condition_id, p.baseline_id, p.agent_id, p.judge_id, p.metric, s.sample_id,
        sum(s.mean) filter (s.condition_id = p.condition_id) as mean,
        sum(s.mean) filter (s.condition_id = p.baseline_id) as baseline_mean,
        coalesce(sum(s.valued) filter (s.condition_id = p.condition_id), 0)::bigint as n,
        coalesce(sum(s.valued) filter (s.condition_id = p.baseline_id), 0)::bigint as baseline_n,
        coalesce(sum(s.agent_failed) filter (s.condition_id = p.condition_id), 0)::bigint as agent_failed,
        coalesce(sum(s.agent_failed) filter (s.condition_id = p.baseline_id), 0)::bigint as baseline_agent_failed,
        sum(s.failure_rate) filter (s.condition_id = p.condition_id) as failure_rate,
        sum(s.failure_rate) filter (s.condition_id = p.baseline_id) as baseline_failure_rate,
        bool_or(s.tells_of_failures) as tells_of_failures,
        max(s.largest) as largest,
        bool_or(s.mock) as mock
    from compared_series as p
    join sample_means as s on s.agent_id = p.agent_id and s.judge_id = p.judge_id and s.metric = p.metric
        and s.condition_id in (p.condition_id, p.baseline_id)
    where s.mean is not null or s.agent_failed + s.answered + s.not_applicable > 0
    group by all
)
select
    c.condition, p.condition_id, b.condition as baseline, p.baseline_id, p.agent_id, m.judge, p.judge_id, p.metric,
    p.sample_id,
    p.mean, p.baseline_mean,
    session.mean_difference(p.mean, p.baseline_mean, p.largest) as difference,
    case
        when abs(difference) <= $noise * p.largest then 'tie'
        when difference > 0 then 'win'
        when difference < 0 then 'loss'
    end as result,
    if(c.has_clusters or b.has_clusters, n.cluster, null) as cluster,
    p.n, p.baseline_n, p.agent_failed, p.baseline_agent_failed,
    if(p.tells_of_failures, p.failure_rate - p.baseline_failure_rate, null) as failure_difference,
    p.largest, p.mock
from paired as p
join conditions as c on c.condition_id = p.condition_id and c.agent_id = p.agent_id
join conditions as b on b.condition_id = p.baseline_id and b.agent_id = p.agent_id
join metrics as m on m.judge_id = p.judge_id and m.metric = p.metric
left join newest_samples as n on n.sample_id = p.sample_id
where p.mean is not null or p.baseline_mean is not null or p.agent_failed + p.baseline_agent_failed > 0
    or failure_difference is not null
