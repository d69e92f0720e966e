-- One row per condition, agent, stage, judge and kind of failure, with one message as an example.
with named as (select judge_id, any_value(judge) as judge from metrics group by judge_id)
select
    condition_id, agent_id, stage, coalesce(n.judge, f.judge_id) as judge, kind,
    count(*) as count, arg_min(message, {time: time, id: id}) as example
from failure_facts as f
left join named as n using (judge_id)
where current
group by condition_id, agent_id, stage, coalesce(n.judge, f.judge_id), kind
order by stage, count desc, judge, kind
