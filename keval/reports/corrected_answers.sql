-- One row per sample whose record changed after it was asked, with its golden answer as it is now.
select sample_id, sample ->> '$.answer' as answer
from samples
semi join (from events where type = 'sample_change') using (position)
