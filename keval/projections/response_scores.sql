-- One row per response, judge and metric: the mean of the response's judgments, null if the metric was applicable in none.
select
    condition_id, agent_id, judge_id, metric, sample_id, repetition, response_id,
    avg(score) as score,
    count(score) as n_judgments,
    bool_or(mock) as mock
from score_facts
group by all
