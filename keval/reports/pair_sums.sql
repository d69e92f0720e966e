-- One row per series and sample: the sums of which kappa is made. It does not depend on where the scale begins, and sums of values
-- that are counted from the lowest one lose no digits.
with counted as (
    select series, sample_id, a - min(least(a, b)) over (partition by series) as a, b - min(least(a, b)) over (partition by series) as b
    from session.compared_pairs
    where span is not null
)
select
    series, sample_id,
    [count(*)::double, sum(a), sum(b), sum(a * a), sum(b * b), sum(a * b)] as sums
from counted
group by series, sample_id
order by series, sample_id
