-- One row per pair of ratings of the series that are compared.
select
    s.series, s.span, row_number() over (order by s.series, p.sample_id, p.response_id, p.a, p.b) as pair,
    p.sample_id, p.response_id, p.a, p.b
from session.rated_twice as p
join session.compared_series as s
    on s.kind = p.kind and s.first_id = p.first_id and s.second_id is not distinct from p.second_id
        and s.metric = p.metric and s.min = p.min and s.max = p.max
