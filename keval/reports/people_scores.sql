-- One row per score that a person gave an answer by a metric, of labels that count.
-- judge_id: the judge whose metric it is, null: of any judge. random: the answer was drawn from all of its condition.
select
    response_id, sample_id, condition_id, agent_id, judge_id, labeler, position, time, random,
    unnest(map_keys(scores)) as metric, unnest(map_values(scores)) as score
from (
    select *, coalesce(draw.method = 'random', false) as random from labels where current and scores is not null
)
