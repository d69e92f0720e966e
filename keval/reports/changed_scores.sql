-- One row per two conditions that are compared and sample that lost or gained most between them: on the metric on which it
-- changed most, as a share of the metric's scale; metrics are never averaged. The largest changes come first, losses and gains
-- apart. Of several logs one condition is compared with several others.
with largest as (
    -- A sample has a row for each metric, so that these are at least the rows of as many samples as are wanted.
    select
        condition_id, baseline_id, agent_id, p.result,
        unnest(
            min(
                {
                    'change': -abs(p.difference / (m.max - m.min)),
                    'sample_id': sample_id,
                    'place': m.place,
                    'judge_id': judge_id,
                    'metric': metric
                },
                (select $most * count(*) from metrics)
            ),
            recursive := true
        )
    from paired_samples as p
    join metrics as m using (judge_id, metric)
    where p.result in ('win', 'loss')
    group by condition_id, baseline_id, agent_id, p.result
),
most as (
    from largest
    qualify row_number() over (
        partition by condition_id, baseline_id, agent_id, result, sample_id order by change, place
    ) = 1
)
select
    condition, p.baseline, sample_id, p.judge, judge_id, metric, p.baseline_mean, p.mean, p.difference, p.result = 'loss' as is_loss,
    c.place as condition_place
from most
join paired_samples as p using (condition_id, baseline_id, agent_id, judge_id, metric, sample_id)
join conditions as c using (condition, condition_id, agent_id)
qualify row_number() over (
    partition by condition_id, baseline_id, agent_id, p.result order by most.change, sample_id
) <= $most
order by condition_place, p.result, most.change, sample_id
