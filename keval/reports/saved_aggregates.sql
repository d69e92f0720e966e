-- One row per aggregate and comparison of logs that hold nothing from which to compute them: where its
-- line lies.
select file, line_offset
from facts
where type in ('aggregate', 'comparison')
    and not exists (from events where type in ('response', 'judgment', 'failure'))
order by position
