-- One row: the name in a column of the answers that is most like one that none of them has.
select $column as name
from ($answers)
group by name
order by jaro_winkler_similarity(name, $name) desc, name
limit 1
