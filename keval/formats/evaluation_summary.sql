-- One row: the means over the samples of a condition, as far as they have a number.
select
    count(*) as num_questions,
    favg(hit_rate) as avg_hit_rate,
    favg(mrr) as avg_mrr,
    favg(judge_score) as avg_judge_score,
    favg(combined_score) as avg_combined_score,
    max(combined_score) as best_combined_score,
    favg(num_tokens) as avg_num_tokens,
    fsum(num_tokens) as total_tokens
from ($rows)
