-- One row per condition, agent, judge and metric, by ids: what `condition_scores` says in names.
-- expected counts the samples that are, or could be, a number; untried those of them that were never tried.
with sample as (
    select
        *,
        session.mean_if(total, counting, valued, min) as lower,
        session.mean_if(total, counting, valued, max) as upper
    from series
    join metrics using (judge_id, metric)
    left join sample_means using (condition_id, agent_id, judge_id, metric)
),
counted as (
    select
        condition_id, agent_id, judge_id, metric,
        coalesce(sum(s.tried), 0)::bigint as tried,
        coalesce(sum(s.unplanned), 0)::bigint as unplanned,
        coalesce(sum(s.scored), 0)::bigint as scored,
        coalesce(sum(s.agent_failed), 0)::bigint as agent_failed,
        coalesce(sum(s.not_measured), 0)::bigint as not_measured,
        coalesce(sum(s.not_applicable), 0)::bigint as not_applicable,
        coalesce(sum(s.not_sampled), 0)::bigint as not_sampled,
        list_sort(flatten(list(s.kinds))) as kinds,
        count(s.mean) as n_samples,
        coalesce(sum(s.n_responses), 0)::bigint as n_responses,
        coalesce(sum(s.n_judgments), 0)::bigint as n_judgments,
        -- Sums are taken in an order of their own, or the last digits would depend on the log's.
        favg(s.mean order by s.mean) as mean,
        favg(s.mean_complete_case order by s.mean_complete_case) as mean_complete_case,
        coalesce(fsum(s.lower order by s.lower), 0) as total_lower,
        coalesce(fsum(s.upper order by s.upper), 0) as total_upper,
        count(*) filter (s.counting > 0) as possible,
        count(*) filter (s.tried > 0) as samples_tried,
        coalesce(sum(s.excused), 0)::bigint as excused,
        count(*) filter (s.tried = 0 and (s.excused > 0 or (s.not_sampled > 0 and s.untried = 0))) as samples_excused,
        -- Means that differ by float noise only do not differ.
        case when max(s.mean) - min(s.mean) <= $noise * max(s.largest) and count(s.mean) > 1
            then 0 else var_samp(s.mean order by s.mean) end as var_between_samples,
        fsum((s.valued - 1) * s.var_within_sample order by s.valued, s.var_within_sample)
            / sum(s.valued - 1) filter (s.var_within_sample is not null) as var_within_sample,
        -- Null where no sample was repeated.
        if(count(*) filter (s.valued > 1) = 0, null, count(*) filter (s.valued > 1 and s.var_within_sample > 0)) as n_unlike,
        case when min(s.valued) filter (s.valued > 0) > 1
            then sqrt(fsum(s.var_within_sample / s.valued order by s.valued, s.var_within_sample)) / count(s.mean) end as se_repeat,
        coalesce(sum(s.valued), 0)::bigint as n_trials,
        coalesce(sum(s.empty), 0)::bigint as empty,
        coalesce(sum(s.refused), 0)::bigint as refused,
        coalesce(sum(s.cut_off), 0)::bigint as cut_off,
        any_value(s.min) = 0 and any_value(s.max) = 1 as is_share,
        bool_and(s.is_binary) as is_binary,
        coalesce(bool_or(s.mean > 0 and s.mean < 1), false) as has_shares,
        coalesce(bool_or(s.mock), false) as mock
    from sample as s
    group by condition_id, agent_id, judge_id, metric
)
select
    counted.* exclude (tried, unplanned, possible, samples_tried, excused, samples_excused, is_share, is_binary),
    -- Where nothing of a condition was judged, the other ones tell what the metric is.
    is_share and coalesce(is_binary, bool_and(is_binary) over (partition by judge_id, metric), false) as is_pass_fail,
    -- greatest() passes over nulls: of an unknown plan it would make a number.
    if(c.planned is null, null, greatest(c.planned - excused, tried) + unplanned) as planned,
    greatest(coalesce(c.planned_samples, 0) - samples_tried - samples_excused, 0) as untried,
    possible + untried as expected
from counted
join conditions as c using (condition_id, agent_id)
