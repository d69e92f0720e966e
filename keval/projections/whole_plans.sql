-- One row per plan of which the log holds every part.
select plan_id
from declarations
anti join (from event_versions where not counts) using (position)
where parts is not null
group by plan_id
having count(distinct part) = max(parts)
