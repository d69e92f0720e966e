-- One row per condition and sample that scored lower there than under the baseline, and one for the baseline. loss: the largest
-- one of the sample, on whatever metric that is meant and under whatever condition it is, as a share of the metric's scale.
with lost as (
    select
        p.condition_id, p.baseline_id, p.agent_id, p.sample_id,
        max(-p.difference / (m.max - m.min)) over (partition by p.agent_id, p.sample_id) as loss
    from paired_samples as p
    join metrics as m using (judge_id, metric)
    where p.result = 'loss' and $meant
)
select distinct unnest([condition_id, baseline_id]) as condition_id, agent_id, sample_id, loss from lost
