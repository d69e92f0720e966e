-- One row per current condition, judge and metric of which some response was judged several times: how often that was so,
-- and how far its judgments were apart; the variances are those of variance_components.
with response as (
    select
        condition_id, agent_id, judge_id, metric, response_id, count(*) as judgments, max(score) - min(score) as spread
    from score_facts
    where score is not null and is_asked
    group by condition_id, agent_id, judge_id, metric, response_id
),
counted as (
    select
        condition_id, agent_id, judge_id, metric, count(*) as responses, sum(judgments)::bigint as judgments,
        count(*) filter (judgments > 1) as repeated,
        count(*) filter (judgments > 1 and spread < 1e-9) as identical,
        max(spread) filter (judgments > 1) as most_spread
    from response
    group by condition_id, agent_id, judge_id, metric
)
select
    c.condition, m.judge_id, m.metric, x.responses, x.judgments, x.repeated, x.identical, x.most_spread,
    v.var_judgment, v.df_judgment, v.judgments_per_response, v.between_answers
from counted as x
join variance_components as v using (condition_id, agent_id, judge_id, metric)
join conditions as c using (condition_id, agent_id)
join metrics as m using (judge_id, metric)
where c.current and x.repeated > 0
order by m.place, c.place
