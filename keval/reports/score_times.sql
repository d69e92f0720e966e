-- One row per judgment and metric: how many seconds after the first of the metric it was made, and how far its score is from the
-- mean of its sample and condition.
-- Only where that has several judgments: between samples or conditions, time cannot be told apart from what was judged.
select
    place, judge, judge_id, metric, sample_id, score - mean as deviation,
    epoch(time::timestamptz) - min(epoch(time::timestamptz)) over (partition by place) as time
from (
    select
        m.place, m.judge, m.judge_id, m.metric, s.sample_id, s.score, j.time, s.position,
        avg(s.score) over same as mean, count(*) over same as judgments
    from score_facts as s
    join conditions as c using (condition_id, agent_id)
    join metrics as m using (judge_id, metric)
    join judgment_facts as j on j.position = s.position
    where s.score is not null and s.is_asked and c.current
    window same as (partition by s.judge_id, s.metric, s.sample_id, s.condition_id, s.agent_id)
)
where judgments > 1
order by place, time, position
