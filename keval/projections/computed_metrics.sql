-- One row per metric that is computed from others, as the newest run of a config declares it: by another formula the
-- same scores make other numbers. parts are the metrics that it is made of, each with its weight in a mean, or its exponent
-- in a product. tokens_exponent and per_tokens are null for a metric that is not made from tokens.
-- sequence: in which order the metrics are declared.
with declared as (
    select rank, unnest(metrics) as declared, generate_subscripts(metrics, 1) as place
    from run_facts
    where rank in (select max(rank) from run_facts where has_config group by config_name)
)
select
    declared.judge_id as judge_id, declared.name as metric, declared.type as computed, declared.parts as parts,
    declared.tokens_exponent as tokens_exponent, declared.per_tokens as per_tokens,
    declared.min as min, declared.max as max, declared.pass_above as pass_above, declared.formula as formula,
    row_number() over (order by rank, place) as sequence
from declared
qualify row_number() over (partition by declared.judge_id, declared.name order by rank desc, place) = 1
