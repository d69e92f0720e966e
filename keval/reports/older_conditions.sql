-- One row per older version of a condition that something is in the log of: of that name, another one is newer. same: it is
-- the condition of today, asked of an earlier agent. answers: how many answers to current questions stand under it.
with older as (
    from conditions where not newest
),
line as (
    select type, condition_id, agent_id, position
    from events
    where type in ('response', 'failure') and condition_id in (select condition_id from older)
)
select
    condition, condition_id in (select condition_id from conditions where newest) as same,
    count(*) filter (type = 'response') as answers
from older
join (
    from line where type = 'response' and position not in (select position from standing where not (counts and asked))
    union all
    from line where type = 'failure' and position not in (select position from standing where not counts)
) as known using (condition_id, agent_id)
group by condition, condition_id, agent_id
order by same, condition, condition_id, agent_id
