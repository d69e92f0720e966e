-- One row per older version of a condition that something is in the log of: of that name, another one is newer. same: it is
-- the condition of today, asked of an earlier agent.
select condition, condition_id in (select condition_id from conditions where newest) as same
from conditions
semi join (
    select distinct condition_id, agent_id
    from events
    where type = 'response'
        and position not in (select position from line_standings where not (counts and asked))
    union all
    select condition_id, agent_id
    from events
    where type = 'failure' and position not in (select position from line_standings where not counts)
) as known using (condition_id, agent_id)
where not newest
order by same, condition, condition_id
