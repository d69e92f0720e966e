-- One row per series of pairs: how many there are, and how far they are apart; bias is the mean of a - b.
-- pairs has series, sample_id, a and b. bias_se is clustered by sample (CR1: Cameron and Miller 2015).
with pair as ($pairs),
summary as (
    select
        series, count(*) as pairs, count(distinct sample_id) as samples, count(distinct response_id) as responses,
        avg((abs(a - b) < 1e-9)::int) as exact, avg((abs(a - b) <= 1 + 1e-9)::int) as within_one,
        avg(a - b) as bias, avg(abs(a - b)) as mae,
        max(a - b) - min(a - b) < 1e-9 as same_difference
    from pair
    group by series
),
cluster as (
    select series, sample_id, sum(a - b - bias) as deviation
    from pair
    join summary using (series)
    group by series, sample_id
),
spread as (select series, sum(deviation ** 2) as square from cluster group by series)
select
    summary.* exclude (same_difference),
    case
        when samples < 2 then null
        when same_difference then 0
        else sqrt(samples / (samples - 1) * square) / pairs
    end as bias_se
from summary
join spread using (series)
