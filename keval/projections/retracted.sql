-- One row per id that was retracted, with the position of its last retraction.
-- A retraction is not taken back by retracting it, but by a later event of the retracted id.
select target as id, max(position) as position
from events
where type = 'retraction'
group by target
