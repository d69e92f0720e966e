-- One row per metric that is computed from others, and metric that it is made of, which is that of a judge; part is the
-- latter's place in the formula, weight its weight in a mean, or its exponent in a product.
select
    judge_id, metric, part, given.judge || '/' || given.metric as name,
    given.judge_id as of_judge_id, given.metric as of_metric, given.weight as weight
from (
    select judge_id, metric, unnest(parts) as given, generate_subscripts(parts, 1) as part from computed_metrics
)
