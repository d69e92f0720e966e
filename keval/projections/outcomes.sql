-- One row per task, judge and metric, in exactly one state: scored, not_applicable, not_sampled (the judge judges a share of
-- the tasks, and this is not in it, whether it was judged before or not), agent_failed, not_measured, or not_done (there is a response and no judgment yet). Tasks that were planned and never tried have no row.
-- value is what counts in the headline: the score, the scale's minimum for a failure that counts as such (unless the config
-- excludes those), else null. To a judge of pairs any answer is better than none: where the baseline failed so, an answer is
-- scored without a score, and its value is the maximum; two failures are a tie, in the middle, and so is the baseline's with itself.
-- squares: Σ (y − mean)² of the judgments of its answer. is_binary: each of its judgments is 0 or 1.
-- passed: whether it passes, as its planned responses say together; see verdicts, which says it of each of them.
-- planned: the newest plan has the task. not_for: the judge is not for the sample. series is the place of judge and metric,
-- condition_place that of condition and agent.
with judged_response as (
    -- One row per response, judge and metric: the mean of the response's judgments, null if it was applicable in none.
    select
        answer, m.place as series, favg(score) as score, count(score) as n_judgments,
        coalesce(var_samp(score) * (count(score) - 1), 0) as squares, bool_and(score in (0, 1)) as is_binary,
        bool_or(mock) as mock, avg(passed::int) as share_passed, any_value(t.pass_from) as own_from
    from score_facts
    join metrics as m using (judge_id, metric)
    left join thresholds as t using (judge_id, metric)
    group by answer, m.place
),
response_score as (
    select
        answer, series, score, n_judgments, squares, is_binary, mock, false as untold,
        $passed as passed
    from (select *, null::double as given_from from judged_response)
    union all
    -- What is computed has no judgments of its own. As long as a part has no score, it says nothing of the task.
    select
        c.answer, m.place, c.score, 0, 0, c.score in (0, 1), c.mock, c.untold,
        if(c.score is null, null, c.passed)
    from computed_scores as c
    join metrics as m using (judge_id, metric)
    where c.score is not null or c.untold or c.not_applicable is not null
),
judged as (
    -- A task has the number of its response, if that is the only event that tells of it.
    select answer as task, series, score, (score is not null)::bigint as n_responses,
        n_judgments, squares, is_binary, mock, untold, passed
    from response_score
    where answer not in (select position from shared_tasks)
    union all
    select task, series, favg(score) as score, count(score) as n_responses,
        sum(n_judgments)::bigint as n_judgments, sum(squares) as squares, bool_and(is_binary) as is_binary,
        bool_or(mock) as mock, bool_or(untold) as untold, bool_and(passed) filter (is_planned) as passed
    from response_score
    join shared_tasks on position = answer
    group by task, series
),
judge_failed as (
    select task, judges_behind.judge_id, arg_max(kind, position) as kind, bool_or(f.mock) as mock
    from tasks
    join (
        select condition_id, agent_id, sample_id, repetition, judge_id, kind, position, mock
        from failure_facts
        where stage = 'judge' and current
    ) as f using (condition_id, agent_id, sample_id, repetition)
    join judges_behind on judging = f.judge_id
    group by all
),
is_not_for as (
    select distinct judges_behind.judge_id, condition_id, agent_id, sample_id
    from not_for as n
    join judges_behind on judging = n.judge_id
),
-- The judge judges a share of the tasks, and these are not in it.
not_sampled as (
    select distinct judges_behind.judge_id, sample_id, repetition
    from tasks, sampling as s
    join judges_behind on judging = s.judge_id
    where not session.in_share(s.seed, s.below, repetition, sample_id)
),
-- How the baseline's task ended with which a judge of pairs compares: null as long as one of them has an answer. What is
-- computed from its scores has none of a pair without the baseline's answer.
failed_baseline as (
    select t.task, p.judge_id, if(bool_and(b.failed is not null), min(b.failed), null) as failed
    from (from tasks where condition_id in (select condition_id from judge_baselines where of_pairs)) as t
    join (from judge_baselines where of_pairs) as p on p.condition_id = t.condition_id
    join (from tasks where condition_id in (select baseline_id from judge_baselines where of_pairs)) as b
        on b.condition_id = p.baseline_id and b.agent_id = t.agent_id and b.sample_id = t.sample_id
        and b.repetition = t.repetition
    group by t.task, p.judge_id
),
baseline_task as (
    -- Of several judges one is enough; a failure of the agent's comes first, be it that the config excludes these.
    select task, behind.judge_id, arg_min(failed, (k.counts_as <> 'minimum', failed)) as failed
    from failed_baseline
    join judges_behind as behind on behind.judging = failed_baseline.judge_id
    join failure_kinds as k on k.kind = failed and k.stage = 'generate'
    group by task, behind.judge_id
),
known as (
    select
        condition_id, agent_id, s.judge_id, s.metric, m.min, m.max, c.place as condition_place, m.place as series,
        t.sample_id, t.repetition, t.planned, t.status, c.failures,
        j.score,
        coalesce(j.n_responses, 0) as n_responses,
        coalesce(j.n_judgments, 0) as n_judgments, j.squares, j.is_binary,
        case
            when j.score is not null then 'scored'
            when j.untold then 'not_measured'
            when j.mock is not null or n.sample_id is not null then 'not_applicable'
            when p.judge_id is not null then 'not_sampled'
            when coalesce(of_task.counts_as, of_judge.counts_as) = 'minimum' then 'agent_failed'
            when t.failed is not null or f.kind is not null then 'not_measured'
            when of_baseline.counts_as = 'minimum' and c.failures = 'minimum' then if(m.computed is null, 'scored', 'not_measured')
            -- Where failures are excluded, there is nothing to compare with.
            when of_baseline.counts_as = 'minimum' then 'not_applicable'
            when of_baseline.kind is not null then 'not_measured'
            else 'not_done'
        end as state,
        if(
            j.mock is null and n.sample_id is null and p.judge_id is null, coalesce(t.failed, f.kind), null
        ) as kind,
        m.computed is null and coalesce(of_baseline.counts_as = 'minimum', false) as baseline_failed,
        -- Nothing says of an older condition of the same name what passes, nor of a task without its response; what is
        -- computed says it for itself. Only trials that are planned count.
        if(
            (t.planned and (m.computed is not null or (c.current and t.status is not null)))
                or (t.parts > 1 and (m.computed is not null or c.current)),
            j.passed, null
        ) as passed,
        n.sample_id is not null as not_for,
        t.mock or coalesce(j.mock, f.mock, false) as mock
    from tasks as t
    join series as s using (condition_id, agent_id)
    join metrics as m on m.judge_id = s.judge_id and m.metric = s.metric
    join conditions as c using (condition_id, agent_id)
    left join not_sampled as p on p.judge_id = s.judge_id and p.sample_id = t.sample_id and p.repetition = t.repetition
    -- What was judged when the share was larger counts as what failed then: not.
    left join judged as j on j.task = t.task and j.series = m.place and p.judge_id is null
    left join judge_failed as f on f.task = t.task and f.judge_id = s.judge_id
    left join is_not_for as n
        on n.judge_id = s.judge_id and n.condition_id = t.condition_id and n.agent_id = t.agent_id and n.sample_id = t.sample_id
    left join failure_kinds as of_task on of_task.kind = t.failed and of_task.stage = 'generate'
    left join failure_kinds as of_judge on of_judge.kind = f.kind and of_judge.stage = 'judge' and t.failed is null
    left join baseline_task as b on b.task = t.task and b.judge_id = s.judge_id
    left join failure_kinds as of_baseline on of_baseline.kind = b.failed and of_baseline.stage = 'generate'
)
select
    *, state = 'scored' and score is null as won,
    case
        when state = 'scored' then coalesce(score, max)
        when state = 'agent_failed' and failures = 'minimum' then if(baseline_failed, (min + max) / 2, min)
    end as value
from known
