-- One row per condition, agent, judge, metric and sample that was tried, by ids: what `sample_scores` says in names.
-- planned counts the repetitions that the newest plan has and those that are there beside it; expected those of them
-- that are, or could be, a number.
with question as (
    -- How often a sample is planned: by its question, or, of one that only judgments tell of, as often as any.
    select c.condition_id, c.agent_id, s.sample_id, coalesce(q.repetitions, 0) as repetitions
    from conditions as c
    join current_samples as s using (agent_id)
    left join planned_questions as q using (condition_id, agent_id, question_id)
    where c.planned is not null and exists (from plans)
),
counted as (
    select
        condition_id, agent_id, judge_id, metric, sample_id,
        count(*) filter (planned) as tried,
        count(*) filter (not planned) as unplanned,
        count(value) as valued,
        sum(value) as total,
        avg(value) as mean,
        avg(score) as mean_complete_case,
        count(*) filter (state = 'scored') as scored,
        count(*) filter (state = 'agent_failed') as agent_failed,
        count(*) filter (state = 'not_measured') as not_measured,
        count(*) filter (state = 'not_applicable') as not_applicable,
        sum(n_responses)::bigint as n_responses,
        sum(n_judgments)::bigint as n_judgments,
        max(abs(value)) as largest,
        -- Values that differ by float noise only do not differ.
        case when max(value) - min(value) <= $noise * max(abs(value)) and count(value) > 1 then 0 else var_samp(value) end
            as var_within_sample,
        coalesce(list(kind order by kind) filter (kind is not null), []) as kinds,
        bool_or(mock) as mock
    from outcomes
    group by condition_id, agent_id, judge_id, metric, sample_id
),
known as (
    select
        counted.*,
        if(c.planned is null, null, coalesce(q.repetitions, c.planned_repetitions)) as repetitions
    from counted
    join conditions as c using (condition_id, agent_id)
    left join question as q using (condition_id, agent_id, sample_id)
)
select
    condition_id, agent_id, judge_id, metric, sample_id,
    -- greatest() passes over nulls: of an unknown plan it would make a number.
    if(repetitions is null, null, greatest(repetitions, tried) + unplanned) as planned,
    greatest(coalesce(repetitions, 0), tried) + unplanned - not_applicable as expected,
    if(repetitions is null, null, greatest(repetitions - tried, 0)) as untried,
    tried, unplanned, valued, total, scored, agent_failed, not_measured, not_applicable, n_responses, n_judgments,
    mean, mean_complete_case, var_within_sample, largest, kinds, mock
from known
