-- One row per task with a score of the metrics that are meant, without a name all but the computed ones: how bad it is, worst
-- first. Each score is put on a scale from 0 to 1; the lowest one of a task counts, then the mean of all. A failure that counts
-- as the worst score is 0.
select
    condition_id, agent_id, sample_id, repetition,
    {lowest: min((value - m.min) / (m.max - m.min)), mean: avg((value - m.min) / (m.max - m.min))} as score
from outcomes as o
join metrics as m on m.place = o.series
where o.value is not null and m.max > m.min and (m.computed is null or len($metrics) > 0) and $meant
group by all
