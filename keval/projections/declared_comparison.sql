-- One row per config of the newest run, of which there is one at most: what it says of comparisons, as JSON text.
select config ->> '$.comparison' as comparison
from newest_config
