-- One row per condition whose tasks the agent failed, of its own fault, before a later run got the answer that counts:
-- how many such answers there are. In the order of the config.
with failed as materialized (
    select distinct condition_id, agent_id, sample_id, repetition, question_id
    from failure_facts
    join failure_kinds using (kind, stage)
    where stage = 'generate' and counts_as = 'minimum' and not current
)
select c.condition, count(*) as answers
from response_facts as r
semi join failed using (condition_id, agent_id, sample_id, repetition, question_id)
join conditions as c using (condition_id, agent_id)
where r.current
group by c.condition, c.place
order by c.place
