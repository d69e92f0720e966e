-- One row per pair of conditions of two logs, judge and metric: the earlier log's is the baseline.
select other.condition_id, one.condition_id as baseline_id, '' as agent_id, m.judge_id, m.metric
from ($pairs) as pair(one_log, one, other_log, other)
join conditions as one on one.log = one_log and one.named = pair.one
join conditions as other on other.log = other_log and other.named = pair.other
join metrics as m on exists (
    from sample_means as s where s.condition_id = one.condition_id and s.judge_id = m.judge_id and s.metric = m.metric
) and exists (
    from sample_means as s where s.condition_id = other.condition_id and s.judge_id = m.judge_id and s.metric = m.metric
)
