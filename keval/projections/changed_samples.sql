-- One row per sample and field that was changed in the course of the log: the position of its last change. A judgment
-- from before that whose judge was given the field judged another sample.
select sample_id, field, max(position) as position
from (
    select sample_id, unnest(changed) as field, position
    from events
    semi join latest using (position)
    where type = 'sample_change'
)
group by sample_id, field
