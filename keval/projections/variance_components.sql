-- One row per condition, agent, judge and metric: how much of the scores' variance lies between samples, between the answers to one
-- sample, and between the judgments of one answer; estimates from an analysis of variance for unequal numbers (Searle, Casella
-- and McCulloch 1992, Henderson's method 1), of what was scored. They can be negative: then the component is not to be told from 0.
-- A number that the log does not determine is null: without repeated judgments only var_response_and_judgment is known.
-- ms_sample, ms_response and var_judgment are the mean squares, k1, k2 and k3 how many judgments stand behind each.
-- between_answers is the variance of answers without the judge's part: where no sample has two, that of samples is in it.
with grand as (
    select
        condition_id, agent_id, judge_id, metric,
        count(*) as n_a, sum(scored - won) as n_b, sum(weight) as n_e, sum(n_judgments - n_responses) as df_repeated,
        fsum(weight * weighted_mean) / sum(weight) as middle,
        sum(weight_squares / weight) as t1, sum(weight_squares) / sum(weight) as t2, sum(weight ** 2) / sum(weight) as t3,
        fsum(squares_judgments) as ss_e, fsum(squares_responses) as ss_b, max(largest) as largest
    from sample_means
    where weight > 0
    group by condition_id, agent_id, judge_id, metric
),
between_samples as (
    select condition_id, agent_id, judge_id, metric, fsum(s.weight * (s.weighted_mean - g.middle) ** 2) as ss_a
    from sample_means as s
    join grand as g using (condition_id, agent_id, judge_id, metric)
    where s.weight > 0
    group by condition_id, agent_id, judge_id, metric
),
squares as (
    -- What differs by float noise only does not differ.
    select
        g.*, greatest(df_repeated, 0) as df_e,
        if(ss_e <= ($noise * largest) ** 2, 0, ss_e) / nullif(df_e, 0) as ms_e,
        if(ss_b <= ($noise * largest) ** 2, 0, ss_b) / nullif(n_b - n_a, 0) as ms_b,
        if(ss_a <= ($noise * largest) ** 2, 0, ss_a) / nullif(n_a - 1, 0) as ms_a,
        (n_e - t1) / nullif(n_b - n_a, 0) as k1, (t1 - t2) / nullif(n_a - 1, 0) as k2, (n_e - t3) / nullif(n_a - 1, 0) as k3
    from grand as g
    join between_samples using (condition_id, agent_id, judge_id, metric)
),
rounded as (
    -- To twelve digits, or fewer where scores are large beside what they vary by: what follows depends on the order in which
    -- samples were summed.
    select
        * replace (
            round(ms_a / digit_a) * digit_a as ms_a, round(ms_b / digit_b) * digit_b as ms_b,
            round(ms_e / digit_e) * digit_e as ms_e
        )
    from (
        select
            *, 10.0 ** floor(log10(greatest(1e-11 * ms_a, 1e-14 * largest * sqrt(ms_a), 1e-311))) as digit_a,
            10.0 ** floor(log10(greatest(1e-11 * ms_b, 1e-14 * largest * sqrt(ms_b), 1e-311))) as digit_b,
            10.0 ** floor(log10(greatest(1e-11 * ms_e, 1e-14 * largest * sqrt(ms_e), 1e-311))) as digit_e
        from squares
    )
),
estimated as (
    select
        *, (ms_b - ms_e) / k1 as response,
        if(ms_e is null, (ms_a - ms_b) / k3, (ms_a - ms_e - k2 * response) / k3) as sample,
        if(ms_b is null, (ms_a - ms_e) / k3, null) as sample_and_response,
        -- A difference is as exact as what it is the difference of, to eleven of its digits.
        greatest(digit_a, digit_b, digit_e) as digit
    from rounded
)
select
    condition_id, agent_id, judge_id, metric, df_e::bigint as df_judgment, ms_a as ms_sample, ms_b as ms_response, k1, k2, k3,
    ms_e as var_judgment, round(response / digit) * digit as var_response,
    if(ms_e is null, ms_b, null) as var_response_and_judgment, round(sample / digit) * digit as var_sample,
    n_b / n_a as responses_per_sample, n_e / n_b as judgments_per_response,
    -- greatest() passes over nulls: of an unknown component it would make 0.
    if(var_sample is null, null, greatest(var_sample, 0)) as of_sample,
    if(ms_e is null, ms_b, if(var_response is null, null, greatest(var_response, 0)) + ms_e) as within_sample,
    round(of_sample / nullif(of_sample + within_sample, 0), 11) as icc_sample,
    case
        when ms_b is not null then of_sample + if(var_response is null, null, greatest(var_response, 0))
        when sample_and_response is not null then greatest(sample_and_response, 0)
    end as between_answers,
    round(between_answers / nullif(between_answers + ms_e / judgments_per_response, 0), 11) as judge_reliability,
    round(of_sample / nullif(of_sample + if(
        ms_e is null, ms_b / responses_per_sample,
        greatest(var_response, 0) / responses_per_sample + ms_e / (responses_per_sample * judgments_per_response)
    ), 0), 11) as sample_reliability
from estimated
