-- One row per condition, agent, judge, metric and group of samples that have values of some fields in common: what
-- condition_scores says of conditions. A sample that lacks a field, or has null there, is in no group; nor is one that was
-- never tried under any condition: the log has no record of it. A group of which nothing is to be measured has no row.
with $tables,
conditions as (from own_conditions),
series as (from own_series),
sample_means as (from own_sample_means),
computed_scores as (from own_computed_scores),
condition_means as ($condition_means),
variance_components as ($variance_components),
cluster_errors as ($cluster_errors),
computed_means as ($computed_means),
scored as ($condition_scores)
select 'group' as level, null as sample_id, g."by", s.* replace (split_part(s.condition_id, ' ', 1) as condition_id)
from scored as s
join group_name as g on g.number = split_part(s.condition_id, ' ', 2)::bigint
-- What could be a number has bounds, be it that nothing was judged yet.
where s.mean_lower is not null
order by condition_place, metric_place, g."by"
