-- One row per sample that a page shows by name, in its order: those first that got worst against the baseline, by their lowest
-- difference as a share of the metric's scale; then those that are not compared. samples: how many have a mean among these series.
with series as (
    from (values $series) as given (judge_id, metric, condition_id, agent_id)
),
known as (
    select distinct sample_id
    from sample_means
    semi join series using (judge_id, metric, condition_id, agent_id)
    where mean is not null
),
lowest as (
    select sample_id, min(if(result = 'tie', 0, difference) / (m.max - m.min)) as change
    from paired_samples
    semi join series using (judge_id, metric, condition_id, agent_id)
    join metrics as m using (judge_id, metric)
    where difference is not null
    group by sample_id
)
select sample_id, (select count(*) from known) as samples
from known
left join lowest using (sample_id)
order by change nulls last, sample_id
limit $most
