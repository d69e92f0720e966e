-- One row per condition and agent: in how many answers a judge looked for claims, and in how many it found one. A judge that
-- never found any is taken to look for none; and where nothing of an answer applied to a judge, it did not look.
with found as (
    select
        condition_id, agent_id, answer, judge_id, len(unverified_claims) > 0 as claiming,
        len(list_filter(map_values(scores), lambda given: given.score is not null)) > 0 as scored
    from judgment_facts
    where current
)
select
    condition_id, agent_id, count(distinct answer) as judged, count(distinct answer) filter (claiming) as claiming
from found
where (scored or claiming) and judge_id in (select judge_id from found where claiming)
group by condition_id, agent_id
