-- One row per judge and metric that was not applicable to answers of conditions that are shown, with how many of each
-- condition, in the order of the config, and why.
select judge, metric, sum(answers)::bigint as answers, list({condition: condition, answers: answers} order by condition_place) as by_condition,
    arg_min(reason, first) as reason
from (
    select
        m.judge, m.metric, m.place, c.condition, c.place as condition_place, count(distinct s.response_id) as answers,
        arg_min(s.not_applicable, s.position) as reason, min(s.position) as first
    from score_facts as s
    join conditions as c using (condition_id, agent_id)
    join metrics as m using (judge_id, metric)
    where c.current and s.not_applicable is not null
    group by all
)
group by judge, metric, place
order by place
