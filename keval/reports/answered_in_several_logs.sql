-- One row: how many responses stand in several logs as different runs gave them; a copy of a log is no other run.
select count(*) as count
from (
    select id
    from (select id, run_id, min(file) as first_file from events where type = 'response' group by id, run_id)
    group by id
    having count(distinct first_file) > 1
)
