-- One row per condition other than the baseline, agent, judge, metric and group of samples that have values of
-- some fields in common: what comparisons says of conditions. Groups are those of group_scores.
with $tables,
own_compared_series as (
    select
        s.* replace (s.condition_id || ' ' || g.number as condition_id, s.baseline_id || ' ' || g.number as baseline_id)
    from main.compared_series as s, group_name as g
),
conditions as (from own_conditions),
series as (from own_series),
sample_means as (from own_sample_means),
planned_questions as (from own_planned_questions),
compared_series as (from own_compared_series),
paired_samples as ($paired_samples),
condition_means as ($condition_means),
pair_bounds as ($pair_bounds),
compared as ($comparisons)
select
    g."by",
    s.* replace (split_part(s.condition_id, ' ', 1) as condition_id, split_part(s.baseline_id, ' ', 1) as baseline_id)
from compared as s
join group_name as g on g.number = split_part(s.condition_id, ' ', 2)::bigint
where s.n_paired + s.n_dropped > 0
order by condition_place, metric_place, g."by"
