-- One row per condition, agent, judge, metric and sample that was tried, by ids: what `sample_scores` says in names; and one
-- per sample that was not, where other conditions tell that the judge is not for it, or that some of it is in no share of the judge.
-- planned counts the repetitions that the newest plan has and those that are there beside it; expected those of them
-- that are, or could be, a number; counting those of expected that no config excludes: a failure has a value, or it is as if it had not
-- been tried; answered those with an answer that is, or could be, scored; failure_rate is the share that the agent failed of those
-- that it answered or failed, which tells nothing where the metric applies to none of them; excused those that were never tried, and that the judge is not for: they are in no other. not_sampled counts also those
-- that were never tried.
-- Of what was scored: weight is Σ j, j being the judgments of an answer, weight_squares Σ j², weighted_mean the mean of the
-- judgments; won are those that a judge of pairs was not asked about, as the baseline has no answer; squares_judgments is Σ (y − mean of the answer)², squares_responses Σ j (mean of the answer − weighted_mean)².
-- is_binary: each judgment is 0 or 1; null without any. decided are the repetitions that pass or fail, passes those that pass. empty, refused
-- and cut_off count answers by their status.
with question as (
    -- How often a sample is planned: by its question, or, of one that only judgments tell of, as often as any.
    select c.condition_id, c.agent_id, s.sample_id, coalesce(q.repetitions, 0) as repetitions
    from conditions as c
    join current_samples as s using (agent_id)
    left join planned_questions as q using (condition_id, agent_id, question_id)
    where c.planned is not null and exists (from plans)
),
counted as materialized (
    -- By places: numbers are quicker to group than ids.
    select
        condition_place, series, sample_id,
        count(*) filter (planned) as tried,
        count(*) filter (not planned) as unplanned,
        count(value) as valued,
        fsum(value) as total,
        favg(value) as mean,
        favg(score) as mean_complete_case,
        count(*) filter (state = 'scored') as scored,
        count(*) filter (won) as won,
        count(*) filter (state = 'agent_failed') as agent_failed,
        count(*) filter (state = 'scored' or (state in ('not_measured', 'not_done') and status is not null)) as answered,
        count(*) filter (state = 'not_measured') as not_measured,
        count(*) filter (state = 'not_applicable') as not_applicable,
        count(*) filter (state = 'not_sampled') as not_sampled,
        count(*) filter (state = 'not_sampled' and planned) as planned_not_sampled,
        sum(n_responses)::bigint as n_responses,
        sum(n_judgments)::bigint as n_judgments,
        max(abs(value)) as largest,
        count(passed) as decided,
        count(*) filter (passed) as passes,
        count(*) filter (status = 'empty') as empty,
        count(*) filter (status = 'refused') as refused,
        count(*) filter (status = 'limit') as cut_off,
        -- Of what nobody judged, a failure or an answer that is better than none, only a tie tells anything.
        bool_and(coalesce(is_binary, if(value in (min, max), null, false))) filter (value is not null) as is_binary,
        sum(greatest(n_judgments, 1)) filter (score is not null)::double as weight,
        sum(greatest(n_judgments, 1) ** 2) filter (score is not null)::double as weight_squares,
        min(min) + fsum(greatest(n_judgments, 1) * (score - min)) / weight as weighted_mean,
        fsum(squares) filter (score is not null) as squares_judgments,
        -- Where all have as many judgments, the variance says it without a loss of digits.
        case
            when max(score) - min(score) <= $noise * max(abs(score)) then 0
            when weight_squares * count(score) = weight * weight then weight * var_pop(score)
            else greatest(fsum(greatest(n_judgments, 1) * (score - min) ** 2) - weight * (weighted_mean - min(min)) ** 2, 0)
        end as squares_responses,
        -- Values that differ by float noise only do not differ.
        case when max(value) - min(value) <= $noise * max(abs(value)) and count(value) > 1 then 0 else var_samp(value) end
            as var_within_sample,
        coalesce(list(kind order by kind) filter (kind is not null), []) as kinds,
        bool_or(mock) as mock,
        bool_and(not_for and state = 'not_applicable') as not_for
    from outcomes
    group by condition_place, series, sample_id
),
share as (
    select judges_behind.judge_id, s.seed, s.below from sampling as s join judges_behind on judging = s.judge_id
),
outside as (
    -- How many of the repetitions that are planned would not be judged, be they tried or not.
    select
        q.condition_id, q.agent_id, share.judge_id, q.sample_id, any_value(q.repetitions) as repetitions,
        count(distinct repetition) as number
    from (select *, unnest(range(1, repetitions + 1)) as repetition from question where exists (from sampling)) as q, share
    where not session.in_share(share.seed, share.below, q.repetition, q.sample_id)
    group by q.condition_id, q.agent_id, share.judge_id, q.sample_id
),
known as (
    select
        counted.* exclude (not_sampled, planned_not_sampled), c.condition_id, c.agent_id, m.judge_id, m.metric,
        if(c.planned is null, null, coalesce(q.repetitions, c.planned_repetitions)) as asked,
        if(asked is not null and not_for, 0, asked) as repetitions,
        if(not_for, greatest(coalesce(asked, 0) - tried, 0), 0) as excused,
        if(not_for, 0, greatest(coalesce(o.number, 0) - planned_not_sampled, 0)) as not_tried_outside,
        counted.not_sampled + not_tried_outside as not_sampled
    from counted
    join conditions as c on c.place = condition_place
    join metrics as m on m.place = series
    left join question as q using (condition_id, agent_id, sample_id)
    left join outside as o
        on o.condition_id = c.condition_id and o.agent_id = c.agent_id and o.judge_id = m.judge_id and o.sample_id = counted.sample_id
),
never_tried as (
    select condition_id, agent_id, judge_id, metric, sample_id, repetitions as excused
    -- What is asked no more under an id says nothing of what is: it was another question.
    from (select distinct judge_id, metric, sample_id from known where not_for and asked is distinct from 0)
    join series using (judge_id, metric)
    join question using (condition_id, agent_id, sample_id)
    anti join (from known where sample_id in (select sample_id from known where not_for))
        using (condition_id, agent_id, judge_id, metric, sample_id)
),
never_tried_outside as (
    select condition_id, agent_id, judge_id, metric, sample_id, repetitions as planned, number as not_sampled, planned - number as untried
    from outside
    join series using (condition_id, agent_id, judge_id)
    anti join (from known where judge_id in (select judge_id from share))
        using (condition_id, agent_id, judge_id, metric, sample_id)
    anti join never_tried using (condition_id, agent_id, judge_id, metric, sample_id)
)
select
    condition_id, agent_id, judge_id, metric, sample_id,
    -- greatest() passes over nulls: of an unknown plan it would make a number.
    if(repetitions is null, null, greatest(repetitions, tried) + unplanned) as planned,
    greatest(coalesce(repetitions, 0), tried) + unplanned - not_applicable - not_sampled as expected,
    expected - (scored + agent_failed - valued) as counting,
    if(repetitions is null, null, greatest(repetitions - tried - not_tried_outside, 0)) as untried,
    agent_failed / nullif(agent_failed + answered + not_applicable, 0) as failure_rate,
    agent_failed + answered > 0 as tells_of_failures,
    tried, unplanned, valued, total, scored, won, agent_failed, answered, not_measured, not_applicable, not_sampled, n_responses, n_judgments,
    mean, mean_complete_case, var_within_sample, largest, kinds, mock, excused, decided, passes, empty, refused, cut_off, is_binary,
    weight, weight_squares, weighted_mean, squares_judgments, squares_responses
from known
union all by name
select
    *, 0 as expected, 0 as counting, 0 as tried, 0 as unplanned, 0 as valued, 0 as scored, 0 as won,
    0 as agent_failed, 0 as answered, 0 as not_measured, 0 as not_applicable, false as tells_of_failures, 0 as n_responses, 0 as n_judgments, 0 as decided, 0 as passes,
    0 as empty, 0 as refused, 0 as cut_off, null as is_binary, [] as kinds, false as mock
from (
    select *, 0 as planned, 0 as untried, 0 as not_sampled from never_tried
    union all by name
    select *, 0 as excused from never_tried_outside
)
