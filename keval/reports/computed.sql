-- One row per metric that is computed from others, and its formula.
select metric, computed, formula
from computed_metrics
order by sequence
