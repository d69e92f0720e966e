-- One row per condition, agent, judge, metric and score that an answer has: how many answers have it. The score of an answer is
-- the mean of its judgments, or what is computed from them.
with scored as (
    select judge_id, metric, condition_id, agent_id, answer, favg(score) as score
    from score_facts
    where score is not null
    group by all
    union all
    select judge_id, metric, condition_id, agent_id, answer, score from computed_scores where score is not null
)
select judge_id, metric, condition_id, agent_id, score, count(*) as answers
from scored
group by all
order by all
