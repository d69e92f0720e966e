-- One row per agent, judge and metric of which three current conditions or more have values: Friedman's (1937) chi-square over
-- the samples that have a value under all of them, with the correction for ties; see friedman.py.
-- n: how many samples that is. Values that differ by float noise only are one rank, the mean of theirs.
-- chi2 is null without such samples, and where no sample has two values.
with series as (
    select
        *, count(distinct condition_id) over (partition by agent_id, judge_id, metric) as k,
        max(largest) over (partition by agent_id, judge_id, metric) as scale
    from sample_means
    semi join (from conditions where current) using (condition_id, agent_id)
    where mean is not null
),
complete as (
    select agent_id, judge_id, metric, k, sample_id, condition_id, round(mean / nullif(scale, 0), 11) as value
    from series
    where k >= $fewest
    qualify count(*) over (partition by agent_id, judge_id, metric, sample_id) = k
),
ranked as (
    select
        agent_id, judge_id, metric, k, sample_id, condition_id,
        count(*) over (partition by agent_id, judge_id, metric, sample_id, value) as ties,
        rank() over (partition by agent_id, judge_id, metric, sample_id order by value) + (ties - 1) / 2 as place
    from complete
),
summed as (
    select agent_id, judge_id, metric, k, condition_id, count(*) as n, sum(place) as places, sum(ties ** 2 - 1) as tied
    from ranked
    group by all
),
tested as (
    select agent_id, judge_id, metric, k, any_value(n) as n, sum(places ** 2) as squares, sum(tied) as tied
    from summed
    group by agent_id, judge_id, metric, k
)
select
    s.agent_id, s.judge_id, s.metric, s.k, coalesce(t.n, 0) as n,
    (12 * t.squares / (t.n * s.k * (s.k + 1)) - 3 * t.n * (s.k + 1))
        / nullif(1 - t.tied / (t.n * (s.k ** 3 - s.k)), 0) as chi2
from (select distinct agent_id, judge_id, metric, k from series) as s
left join tested as t using (agent_id, judge_id, metric)
