-- One row per condition, agent, judge and metric with a value: its samples by their means, ascending, those means, and the samples
-- of which the agent failed an answer. Apart, as a list of texts or numbers is read many times as fast as one of structs.
select
    judge_id, metric, condition_id, agent_id,
    [each.sample_id for each in found] as samples,
    [each.mean for each in found] as means,
    [each.sample_id for each in found if each.agent_failed > 0] as failed
from (
    select
        judge_id, metric, condition_id, agent_id,
        list({sample_id: sample_id, mean: mean, agent_failed: agent_failed} order by mean, sample_id) as found
    from sample_means
    where mean is not null
    group by all
)
order by judge_id, metric, condition_id, agent_id
