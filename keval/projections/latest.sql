-- One row per event that counts: the last one of its type and id, unless a later line retracts it. What the mock made
-- takes the place of nothing that is real.
-- mock: a stand-in made it, by its own account or by that of its run.
with last as (
    select e.position, e.type, e.run_id, try_cast(e.mock as boolean) as mock
    from (
        select arg_max(position, {real: not coalesce(try_cast(mock as boolean), false), position: position}) as position
        from events
        group by type, id
    ) as newest
    join events as e using (position)
    left join retracted as r on r.id = e.id
    where e.position > coalesce(r.position, 0)
)
select position, coalesce(mock, run_id in (select run_id from last where type = 'run' and mock)) as mock
from last
