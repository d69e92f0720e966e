-- One row per event that counts: the last one of its type and id, of those that no later line retracts.
-- mock: a stand-in made it, by its own account or, if it says nothing of that, by that of its run.
with mock_run as (
    select run_id
    from events
    join last_lines as l using (position)
    where type = 'run' and l.mock
),
of_mock_run as (
    select position from events semi join mock_run using (run_id) where mock is null
)
select position, l.mock or position in (from of_mock_run) as mock
from last_lines as l
where position is not null
