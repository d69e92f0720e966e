-- One row per condition with tasks that were answered in one run and failed in another, and whose answer counts. later: the answer
-- came after what the agent failed, of its own fault. earlier: whatever failed came after the answer. In the order of the config.
with failed as materialized (
    select
        condition_id, agent_id, sample_id, repetition, question_id,
        max(position) as position, bool_or(counts_as = 'minimum') as by_agent
    from failure_facts
    join failure_kinds using (kind, stage)
    where stage = 'generate' and not current
    group by all
)
select
    c.condition,
    count(*) filter (r.position > failed.position and by_agent) as later,
    count(*) filter (r.position < failed.position) as earlier
from response_facts as r
join failed using (condition_id, agent_id, sample_id, repetition, question_id)
join conditions as c using (condition_id, agent_id)
where r.current
group by c.condition, c.place
having later + earlier > 0
order by c.place
