-- One row per row of `comparisons` with an answer that was not measured or not done: between what the mean difference lies, whatever
-- that would have scored (Manski 2003). It is taken over the samples that are, or could be, a number under both: others are in no
-- difference. Null where there is none.
with lacking as (
    select condition_id, agent_id, judge_id, metric from sample_means where counting > valued
    union
    select condition_id, agent_id, judge_id, metric from $untried where untried > 0
),
pair as (
    select p.*, m.min, m.max, c.untried, b.untried as baseline_untried
    from (
        from compared_series semi join lacking using (condition_id, agent_id, judge_id, metric)
        union
        select p.*
        from compared_series as p
        semi join lacking as l
            on l.condition_id = p.baseline_id and l.agent_id = p.agent_id and l.judge_id = p.judge_id and l.metric = p.metric
    ) as p
    join metrics as m using (judge_id, metric)
    join $untried as c using (condition_id, agent_id, judge_id, metric)
    join $untried as b
        on b.condition_id = p.baseline_id and b.agent_id = p.agent_id and b.judge_id = p.judge_id and b.metric = p.metric
),
tried as (
    select
        p.condition_id, p.baseline_id, p.agent_id, p.judge_id, p.metric, s.sample_id, s.condition_id = p.condition_id as is_own,
        session.mean_if(s.total, s.counting, s.valued, p.min) as lower,
        session.mean_if(s.total, s.counting, s.valued, p.max) as upper
    from pair as p
    join sample_means as s on s.agent_id = p.agent_id and s.judge_id = p.judge_id and s.metric = p.metric
        and s.condition_id in (p.condition_id, p.baseline_id)
    where s.tried > 0 or s.unplanned > 0 or s.excused > 0 or (s.not_sampled > 0 and s.untried = 0)
),
sample as (
    select
        condition_id, baseline_id, agent_id, judge_id, metric, sample_id,
        count(*) filter (is_own) = 0 as is_untried, count(*) filter (not is_own) = 0 as is_baseline_untried,
        max(lower) filter (is_own) as lower, max(upper) filter (is_own) as upper,
        max(lower) filter (not is_own) as baseline_lower, max(upper) filter (not is_own) as baseline_upper
    from tried
    group by all
),
planned as ($planned),
known as (
    -- What was tried under one of the two is as bad, or as good, as can be under the other, if it is planned there.
    select
        p.condition_id, p.baseline_id, p.agent_id, p.judge_id, p.metric, p.min, p.max, p.untried, p.baseline_untried,
        s.is_untried, s.is_baseline_untried,
        not s.is_untried or (p.untried > 0 and c.sample_id is not null) as is_asked,
        not s.is_baseline_untried or (p.baseline_untried > 0 and b.sample_id is not null) as is_baseline_asked,
        if(s.is_untried, p.min, s.lower) - if(s.is_baseline_untried, p.max, s.baseline_upper) as lower,
        if(s.is_untried, p.max, s.upper) - if(s.is_baseline_untried, p.min, s.baseline_lower) as upper
    from pair as p
    left join sample as s using (condition_id, baseline_id, agent_id, judge_id, metric)
    left join planned as c on c.condition_id = p.condition_id and c.agent_id = p.agent_id and c.sample_id = s.sample_id
    left join planned as b on b.condition_id = p.baseline_id and b.agent_id = p.agent_id and b.sample_id = s.sample_id
),
counted as (
    select
        condition_id, baseline_id, agent_id, judge_id, metric, any_value(min) as min, any_value(max) as max,
        -- As exact as what they are differences of, to thirteen of its digits: else noise would be a side of 0.
        12 - floor(log10(greatest(abs(any_value(min)), abs(any_value(max)), 1e-290)))::int as digits,
        count(lower) filter (is_asked and is_baseline_asked) as samples,
        coalesce(fsum(lower order by lower) filter (is_asked and is_baseline_asked), 0) as lower,
        coalesce(fsum(upper order by upper) filter (is_asked and is_baseline_asked), 0) as upper,
        -- Of those that were tried under none of the two there is no line.
        greatest(least(
            any_value(untried) - count(*) filter (is_untried and is_asked),
            any_value(baseline_untried) - count(*) filter (is_baseline_untried and is_baseline_asked)
        ), 0) as in_none
    from known
    group by all
)
select
    condition_id, baseline_id, agent_id, judge_id, metric,
    round((lower + in_none * (min - max)) / nullif(samples + in_none, 0), digits) + 0.0 as difference_lower,
    round((upper + in_none * (max - min)) / nullif(samples + in_none, 0), digits) + 0.0 as difference_upper
from counted
