-- One row per condition and agent of which responses are left out although they answer a current question: those that the
-- newest plan no longer has. `--all` takes them.
select c.condition, condition_id, agent_id, count(*) as responses
from events as r
join conditions as c using (condition_id, agent_id)
where c.newest and r.type = 'response'
    and r.position in (select position from standing where counts and asked and not current)
group by c.condition, condition_id, agent_id
