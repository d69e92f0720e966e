-- One row per plan of which the log holds every part.
select plan_id
from events
semi join latest using (position)
where type = 'plan'
group by plan_id
having count(distinct part) = max(parts)
