-- One row per aggregate of level sample, in the order of the config's conditions, then of judges, their metrics and samples.
select 'sample' as level, *, if(mean is null, 0, 1) as n_samples
from sample_scores
order by condition_place, metric_place, sample_id
