-- One row per condition, agent, judge, metric and sample with a value, in the order of the samples' names: what is resampled.
-- scored counts the answers that were judged: to one without a pair nobody was asked, and it is in no component.
select
    s.condition_id, s.agent_id, s.judge_id, s.metric, s.sample_id, s.mean,
    if(c.has_clusters, n.cluster, null) as cluster,
    s.weight, s.weight_squares, s.weighted_mean, s.scored - s.won as scored, s.squares_judgments, s.squares_responses,
    s.n_judgments - s.n_responses as repeated
from sample_means as s
join conditions as c using (condition_id, agent_id)
left join newest_samples as n using (sample_id)
where s.mean is not null
order by s.condition_id, s.agent_id, s.judge_id, s.metric, s.sample_id
