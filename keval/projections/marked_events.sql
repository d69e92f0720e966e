-- One row per event, as its line says it. counts: it is the last one of its type and id, of those that no later line retracts.
-- mock: a stand-in made it, by its own account or, if it says nothing of that, by that of its run.
with mock_run as (
    select run_id from events where type = 'run' and mock and position not in (select position from event_versions where not counts)
)
select
    * replace (coalesce(mock, run_id in (from mock_run), false) as mock),
    position not in (select position from event_versions where not counts) as counts
from events
