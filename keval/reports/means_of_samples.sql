-- One row per condition, agent, judge and metric with a value: the means of its samples, ascending, and the agent's failures.
select
    judge_id, metric, condition_id, agent_id,
    list({sample_id: sample_id, mean: mean, agent_failed: agent_failed} order by mean, sample_id) as means
from sample_means
where mean is not null
group by all
order by all
