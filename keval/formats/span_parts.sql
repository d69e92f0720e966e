-- One row per part of a log with so many spans: the positions between which they stand. A query for all would hold all texts at
-- once, to bring them into their order.
select min(position) as first, max(position) as last
from (
    select position, (row_number() over (order by position) - 1) // $most as part
    from facts
    where current and (type = 'response' or (type = 'failure' and stage = 'generate'))
)
group by part
order by part
