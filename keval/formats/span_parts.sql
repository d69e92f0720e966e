-- One row per part of a log, so many bytes of its lines: the positions between which its spans stand. A query for all would hold
-- all texts at once, to bring them into their order.
select min(position) as first, max(position) as last
from facts
where current and (type = 'response' or (type = 'failure' and stage = 'generate'))
group by file, line_offset // $most
order by first
