-- One row per cell of a confusion matrix: how many pairs have these two scores.
select series, a, b, count(*) as pairs from session.compared_pairs where span is not null group by all order by all
