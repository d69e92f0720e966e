-- One row per series of pairs: Cohen's kappa (1968) with the variance of Fleiss, Cohen and Everitt (1969).
-- pairs has series, a, b and span, how far the ends of the scale are apart, null: it has no categories, and no row here.
-- weight says how far a and b agree, 1: fully.
-- kappa is null where both raters used one and the same category only: chance alone then agrees always.
with pair as (select * from ($pairs) where span is not null),
total as (select series, count(*)::double as number, any_value(span) as span from pair group by series),
cell as (
    select series, a, b, count(*) / any_value(number) as share, any_value(span) as span
    from pair join total using (series, span)
    group by series, a, b
),
first as (select series, a, sum(share) as share from cell group by series, a),
second as (select series, b, sum(share) as share from cell group by series, b),
chance as (
    select series, a, b, f.share as of_a, s.share as of_b, $weight as agreed
    from first as f
    join second as s using (series)
    join total using (series)
),
by_a as (select series, a, sum(agreed * of_b) as mean from chance group by series, a),
by_b as (select series, b, sum(agreed * of_a) as mean from chance group by series, b),
share as (
    select
        series, any_value(number) as number, sum(cell.share * ($weight)) as observed,
        (select sum(agreed * of_a * of_b) from chance where chance.series = cell.series) as expected
    from cell
    join total using (series, span)
    group by series
),
found as (
    select *, case when 1 - expected > 1e-12 then (observed - expected) / (1 - expected) end as kappa from share
),
spread as (
    select series, sum(cell.share * (($weight) - (by_a.mean + by_b.mean) * (1 - kappa)) ** 2) as square
    from cell
    join found using (series)
    join by_a using (series, a)
    join by_b using (series, b)
    group by series
)
select
    series, kappa,
    case
        when kappa is not null
            then sqrt(greatest(square - (kappa - expected * (1 - kappa)) ** 2, 0) / number) / (1 - expected)
    end as se
from found
join spread using (series)
