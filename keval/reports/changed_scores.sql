-- One row per two conditions that are compared and sample that lost or gained most between them: on the metric on which it
-- changed most, as a share of the metric's scale; metrics are never averaged. The largest changes come first, losses and gains
-- apart. Of several logs one condition is compared with several others.
with change as (
    select p.*, p.difference / (m.max - m.min) as share, m.place
    from paired_samples as p
    join metrics as m using (judge_id, metric)
    where p.result in ('win', 'loss')
),
most as (
    from change
    qualify row_number() over (
        partition by condition_id, baseline_id, agent_id, result, sample_id order by abs(share) desc, place
    ) = 1
)
select
    condition, baseline, sample_id, judge, metric, baseline_mean, mean, difference, result = 'loss' as is_loss,
    c.place as condition_place
from most
join conditions as c using (condition, condition_id, agent_id)
qualify row_number() over (partition by condition_id, baseline_id, agent_id, result order by abs(share) desc, sample_id) <= $most
order by condition_place, result, abs(share) desc, sample_id
