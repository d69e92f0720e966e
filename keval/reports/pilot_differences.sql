-- One row per current comparison: the differences of its samples, and the length of its scale.
select p.condition, p.baseline, p.judge_id, p.metric, any_value(m.max - m.min) as reach,
    list(p.difference order by p.sample_id) as differences
from paired_samples as p
join metrics as m on m.judge_id = p.judge_id and m.metric = p.metric
where p.difference is not null
group by all
