-- One row: how many responses stand in several logs as different runs gave them.
select count(*) as count
from (
    select id
    from events
    where type = 'response'
    group by id
    having count(distinct file) > 1 and count(distinct run_id) > 1
)
