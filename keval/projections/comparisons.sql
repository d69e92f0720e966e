-- One row per current condition other than the baseline, agent, judge and metric: condition minus baseline, paired by
-- sample. The baseline is the first condition of the newest run; without one, the first by name. A sample with a value under
-- one of the two only is dropped. A difference that is float noise beside the values is a tie.
with compared as (
    select
        condition_id, baseline_id, agent_id, judge_id, metric,
        count(s.difference) as n_paired,
        count(s.sample_id) - count(s.difference) as n_dropped,
        -- Differences that differ by float noise only do not differ.
        case when max(abs(s.difference)) <= $noise * max(s.largest) then 0 else avg(s.difference) end as difference,
        case when max(s.difference) - min(s.difference) <= $noise * max(s.largest) and count(s.difference) > 1
            then 0 else stddev_samp(s.difference) end as sd_difference,
        count(*) filter (s.result = 'win') as wins,
        count(*) filter (s.result = 'tie') as ties,
        count(*) filter (s.result = 'loss') as losses,
        coalesce(bool_or(s.mock), false) as mock
    from compared_series
    left join paired_samples as s using (condition_id, baseline_id, agent_id, judge_id, metric)
    group by all
)
select
    b.condition as baseline, x.baseline_id, c.condition, x.condition_id, x.agent_id, m.judge, x.judge_id, x.metric,
    c.current, c.place as condition_place, m.place as metric_place,
    x.n_paired, x.n_dropped, x.difference, x.sd_difference, x.wins, x.ties, x.losses, x.mock,
    x.sd_difference / sqrt(x.n_paired) as se
from compared as x
join conditions as c on c.condition_id = x.condition_id and c.agent_id = x.agent_id
join conditions as b on b.condition_id = x.baseline_id and b.agent_id = x.agent_id
join metrics as m on m.judge_id = x.judge_id and m.metric = x.metric
order by condition_place, metric_place
