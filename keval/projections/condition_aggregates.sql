-- One row per aggregate of level condition, in the order of the config's conditions, then of judges and their metrics.
select 'condition' as level, null as sample_id, *
from condition_scores
order by condition_place, metric_place
