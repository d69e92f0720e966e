-- One row per sample and condition that the log has answers of.
select distinct sample_id, condition
from facts
where type = 'response'
