-- One row per stage, judge, kind and message of failures that nothing has come of since: how often, where, and one sample.
select
    f.stage, f.judge.name as judge, f.kind, left(f.message, 500) as message,
    count(*) as failures,
    list(distinct c.condition order by c.condition) as conditions,
    arg_min(f.sample_id, f.position) as sample_id
from failure_facts as f
join conditions as c using (condition_id, agent_id)
where f.current and c.current
group by all
order by failures desc, f.stage, f.kind, message
limit $most
