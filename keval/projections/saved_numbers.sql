-- One row per aggregate and comparison that counts as the last of its id: where its line lies.
select file, line_offset
from facts
where type in ('aggregate', 'comparison')
