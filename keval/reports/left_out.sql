-- One row: how many responses answer a current question and are left out, because the newest plan does not have them; and
-- whether a run stopped to ask before the dataset's end, as it was decided.
select
    coalesce(sum(responses), 0)::bigint as count, exists (from stopped_conditions) as stopped
from left_out
