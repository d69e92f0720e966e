-- One row per condition and agent: how many answers were judged, and in how many a claim was found.
select
    condition_id, agent_id, count(distinct response_id) as judged,
    count(distinct response_id) filter (len(unverified_claims) > 0) as claiming
from judgment_facts where current group by condition_id, agent_id
