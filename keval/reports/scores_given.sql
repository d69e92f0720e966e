-- One row per condition, agent, judge, metric and score that an answer has: how many answers have it. The score of an answer is
-- the mean of its judgments, or what is computed from them.
with scored as (
    -- By places: numbers are quicker to group than ids.
    select answer, m.place as series, c.place as condition_place, favg(s.score) as score
    from score_facts as s
    join metrics as m using (judge_id, metric)
    join conditions as c using (condition_id, agent_id)
    where s.score is not null
    group by all
    union all
    select answer, m.place, c.place, s.score
    from computed_scores as s
    join metrics as m using (judge_id, metric)
    join conditions as c using (condition_id, agent_id)
    where s.score is not null
)
select m.judge_id, m.metric, c.condition_id, c.agent_id, score, answers
from (select series, condition_place, score, count(*) as answers from scored group by all)
join metrics as m on m.place = series
join conditions as c on c.place = condition_place
order by all
