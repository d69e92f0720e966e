-- One row per pair of raters and metric: what is compared, and how much of it there is. Of pairs that are the `wanted` ones.
-- span: how far the ends of the scale are apart, null unless it has whole steps, and each rating is one of them.
select
    row_number() over (
        order by array_position(['judges', 'replicates', 'labels', 'people'], kind), min(place), min(second_place),
            first_id, second_id, metric, min, max
    ) as series,
    kind, first_id, second_id, any_value(first) as first, any_value(second) as second, metric, min, max,
    if(
        bool_and(a = floor(a) and b = floor(b)) and min = floor(min) and max = floor(max) and max - min between 1 and 100,
        max - min, null
    ) as span,
    count(*) filter (not random) as not_random
from session.rated_twice
where $wanted
group by kind, first_id, second_id, metric, min, max
