-- One row per series of ratings: Krippendorff's alpha (2011) for values that only differ (nominal), that have an order
-- (ordinal), and that lie apart (interval).
-- ratings has series, unit, rater and value; units with one rating say nothing. Null where no value differs from another.
with rating as ($ratings),
known as (select series, unit, count(*) as number from rating group by series, unit having count(*) >= 2),
coincidence as (
    select series, a.value as one, b.value as other, sum(1.0 / (number - 1))::double as share
    from rating as a
    join rating as b using (series, unit)
    join known using (series, unit)
    where a.rater <> b.rater
    group by series, a.value, b.value
),
number as (select series, one as value, sum(share) as number from coincidence group by series, one),
middle as (
    select *, sum(number) over (partition by series order by value) - number / 2 as rank,
        sum(number) over (partition by series) as total
    from number
),
observed as (
    select
        series,
        sum(share) filter (one <> other) as nominal,
        sum(share * (a.rank - b.rank) ** 2) as ordinal,
        sum(share * (one - other) ** 2) as "interval"
    from coincidence as c
    join middle as a using (series)
    join middle as b using (series)
    where a.value = one and b.value = other
    group by series
),
expected as (
    select
        series,
        sum(a.number * b.number) filter (a.value <> b.value) as nominal,
        sum(a.number * b.number * (a.rank - b.rank) ** 2) as ordinal,
        sum(a.number * b.number * (a.value - b.value) ** 2) as "interval",
        any_value(a.total) - 1 as others
    from middle as a
    join middle as b using (series)
    group by series
)
select
    series,
    1 - others * coalesce(o.nominal, 0) / nullif(e.nominal, 0) as nominal,
    1 - others * o.ordinal / nullif(e.ordinal, 0) as ordinal,
    1 - others * o."interval" / nullif(e."interval", 0) as "interval"
from observed as o
join expected as e using (series)
