-- One row per series of ratings: Gwet's agreement coefficient (2014), AC1 or, with weights, AC2.
-- ratings has series, unit, rater, value and span, how far the ends of the scale are apart: its categories are all whole
-- steps between them, also those that nobody used; a span of null has none, and no row here. weight as in kappa.sql.
with rating as (select * from ($ratings) where span is not null),
cell as (select series, unit, value, count(*)::double as number, any_value(span) as span from rating group by series, unit, value),
unit as (select series, unit, sum(number) as number from cell group by series, unit),
-- How many ratings of its unit agree with one of a cell, it itself included.
agreeing as (
    select series, unit, a, any_value(of_a) as of_a, sum(of_b * ($weight)) as number
    from (
        select series, unit, x.value as a, y.value as b, x.number as of_a, y.number as of_b, x.span as span
        from cell as x
        join cell as y using (series, unit)
    )
    group by series, unit, a
),
observed as (
    select series, avg(agreed) as agreed
    from (
        select series, unit, sum(a.of_a * (a.number - 1)) / (any_value(u.number) * (any_value(u.number) - 1)) as agreed
        from agreeing as a
        join unit as u using (series, unit)
        where u.number >= 2
        group by series, unit
    )
    group by series
),
category as (
    select series, value, sum(cell.number / unit.number) / any_value(units) as share
    from cell
    join unit using (series, unit)
    join (select series, count(*) as units from unit group by series) using (series)
    group by series, value
),
scale as (
    select series, span + 1 as categories, sum($weight) as weights
    from (
        select series, span, unnest(range(span::bigint + 1)) as a
        from (select series, any_value(span) as span from rating group by series)
    ),
    lateral (select unnest(range(span::bigint + 1)) as b)
    group by series, span
),
expected as (
    select series, any_value(weights / (categories * (categories - 1))) * sum(share * (1 - share)) as agreed
    from category
    join scale using (series)
    group by series
)
select series, (o.agreed - e.agreed) / nullif(1 - e.agreed, 0) as coefficient
from observed as o
join expected as e using (series)
