-- One row per metric and sample: the share of its scores at the upper end of the scale, and how many there are. Not of a metric
-- that says yes or no, with scores at both ends and none between: that is its pass rate, and says nothing of the scale.
select place, judge, judge_id, metric, sample_id, share, scores
from (
    select
        m.place, m.judge, m.judge_id, m.metric, s.sample_id,
        avg((s.score >= m.max - 1e-9)::int) as share, count(*) as scores,
        bool_or(s.score > m.min + 1e-9 and s.score < m.max - 1e-9) as has_between,
        bool_or(s.score <= m.min + 1e-9) as has_lowest
    from score_facts as s
    join conditions as c using (condition_id, agent_id)
    join metrics as m using (judge_id, metric)
    where s.score is not null and s.is_asked and c.current
    group by m.place, m.judge, m.judge_id, m.metric, s.sample_id
)
qualify bool_or(has_between) over (partition by place) or not bool_or(has_lowest) over (partition by place)
order by place, sample_id
