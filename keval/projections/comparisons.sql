-- One row per current condition other than the baseline, agent, judge and metric: condition minus baseline, paired by
-- sample. The baseline is the first condition of the newest run; without one, the first by name. A sample with a value under
-- one of the two only is dropped. A difference that is float noise beside the values is a tie.
with baseline as (
    select condition, condition_id, agent_id from conditions where current order by place limit 1
),
pair as (
    select m.*, b.condition as baseline, b.condition_id as baseline_id
    from series as m
    join baseline as b on b.agent_id = m.agent_id and b.condition_id <> m.condition_id
    where m.current
),
sample as (
    -- difference is null where one of the two has no value
    select
        p.condition_id, p.agent_id, p.judge_id, p.metric, s.sample_id,
        sum(s.mean) filter (s.condition_id = p.condition_id) - sum(s.mean) filter (s.condition_id = p.baseline_id)
            as difference,
        max(s.largest) as largest,
        bool_or(s.mock) as mock
    from pair as p
    join sample_scores as s on s.agent_id = p.agent_id and s.judge_id = p.judge_id and s.metric = p.metric
        and s.condition_id in (p.condition_id, p.baseline_id)
    where s.mean is not null
    group by all
),
compared as (
    select
        p.baseline, p.baseline_id, p.condition, p.condition_id, p.agent_id, p.judge, p.judge_id, p.metric, p.current,
        p.condition_place, p.metric_place,
        count(s.difference) as n_paired,
        count(s.sample_id) - count(s.difference) as n_dropped,
        case when max(abs(s.difference)) <= $noise * max(s.largest) then 0 else avg(s.difference) end as difference,
        -- Differences that differ by float noise only do not differ.
        case when max(s.difference) - min(s.difference) <= $noise * max(s.largest) and count(s.difference) > 1
            then 0 else stddev_samp(s.difference) end as sd_difference,
        count(*) filter (s.difference > $noise * s.largest) as wins,
        count(*) filter (abs(s.difference) <= $noise * s.largest) as ties,
        count(*) filter (s.difference < -$noise * s.largest) as losses,
        coalesce(bool_or(s.mock), false) as mock
    from pair as p
    left join sample as s using (condition_id, agent_id, judge_id, metric)
    group by all
)
select *, sd_difference / sqrt(n_paired) as se
from compared
