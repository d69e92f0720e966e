-- One row: how many runs stand again after a newer run of a config, retraction or changed sample. They are of a copy of the log that
-- is older, but was given last: what it says takes the place of what was said later.
with newer as (
    select max(position) as position, time
    from events
    where type in ('retraction', 'sample_change')
        or (type = 'run' and run_id in (select run_id from run_facts where config_name is not null))
    group by type, id, run_id, time
)
select count(distinct e.position) as count
from (from events where type = 'run' and position in (from repeated)) as e
join newer on newer.position < e.position and newer.time > e.time
