-- One row per condition, agent and unverified claim: in how many answers a judge found it.
select condition_id, agent_id, claim, count(distinct response_id) as answers
from (
    select condition_id, agent_id, response_id, unnest(unverified_claims) as claim
    from current_lines
    where type = 'judgment' and len(unverified_claims) > 0
)
group by condition_id, agent_id, claim
order by answers desc, claim
