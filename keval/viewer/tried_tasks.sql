-- One row per current condition and sample of a log in which nothing is scored: the kinds of failure.
select sample_id, condition, null::double as mean, null::double as largest, list(distinct failed) filter (failed is not null) as kinds
from tasks join conditions using (condition_id, agent_id)
where current
group by sample_id, condition
