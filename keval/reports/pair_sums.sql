-- One row per series and sample: the sums of which kappa is made.
select
    series, sample_id,
    [count(*)::double, sum(a), sum(b), sum(a * a), sum(b * b), sum(a * b)] as sums
from session.compared_pairs
where span is not null
group by series, sample_id
order by series, sample_id
