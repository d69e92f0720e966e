-- One row per trial, a task that is planned and was tried, of those that $only lets through: whether it passed, by every metric that says so, and its scores.
-- is_outside: no judge is for the sample. not_sampled: of those that are, by whose metric tasks pass, it is in the share of none;
-- unsampled are the repetitions of the sample of which that is so, also of those that were not tried. cluster: the samples that belong together, null if the sample has none, or, not is_clustered, if the config names no field for it. A trial that the agent failed did not pass. passed is null where that was not measured: why says for what reason.
with verdict as materialized (
    -- A task has the number of its response, if that is the only event that tells of it.
    select coalesce(s.task, v.position) as task, v.judge, v.judge_id, v.metric, v.series, v.score, v.passed, v.outside
    from ($verdicts) as v
    left join shared_tasks as s on s.position = v.position
),
deciding as (
    select condition_id, agent_id, judge_id, seed, below
    from (select distinct condition_id, agent_id, judge_id from series)
    semi join (from verdict where passed is not null) using (judge_id)
    left join sampling using (judge_id)
),
conditional as (
    -- Where one judge is for all samples and judges all tasks, nothing has to be looked up.
    from deciding
    anti join (
        from deciding where below is null and judge_id not in (select judge_id from not_for)
    ) using (condition_id, agent_id)
),
repeated as (
    -- Each sample with its repetitions, also those that were not tried.
    select condition_id, agent_id, sample_id, unnest(range(1, 1 + repetitions)) as repetition
    from (
        select t.condition_id, t.agent_id, t.sample_id, greatest(any_value(c.planned_repetitions), max(t.repetition)) as repetitions
        from tasks as t
        join conditions as c using (condition_id, agent_id)
        group by t.condition_id, t.agent_id, t.sample_id
    )
),
asked as (
    -- By whichever of the judges a task may pass, whether one is for it, and whether it is in the share of one that is.
    select
        r.condition_id, r.agent_id, r.sample_id, r.repetition,
        bool_or(n.sample_id is null) as is_for,
        bool_or(n.sample_id is null and session.in_share(d.seed, d.below, r.repetition, r.sample_id)) as is_judged
    from repeated as r
    join conditional as d using (condition_id, agent_id)
    left join not_for as n
        on n.judge_id = d.judge_id and n.condition_id = r.condition_id and n.agent_id = r.agent_id and n.sample_id = r.sample_id
    group by r.condition_id, r.agent_id, r.sample_id, r.repetition
),
not_judged as (
    select
        condition_id, agent_id, sample_id, not bool_or(is_for) as outside,
        coalesce(list(repetition) filter (is_for and not is_judged), []) as unsampled
    from asked
    group by condition_id, agent_id, sample_id
),
judged as (
    select
        task,
        bool_and(passed) as passed,
        bool_and(coalesce(outside, false)) as outside,
        list({judge: judge, metric: metric, score: score, passed: passed} order by series)
            filter (score is not null) as scores
    from verdict
    group by task
),
unjudged as (
    -- A judge that says of no score whether it passes cannot fail to say it.
    select condition_id, agent_id, sample_id, repetition, any_value(kind) as kind
    from failure_facts
    anti join (
        select judge_id from verdict group by judge_id having count(score) > 0 and count(passed) = 0
    ) using (judge_id)
    where stage = 'judge' and current
    group by all
),
-- What a judge has still to say could be that it did not pass. A judge of pairs is not asked about every answer.
awaited as (
    select distinct t.task
    from tasks as t
    join deciding as d using (condition_id, agent_id)
    anti join verdict as v on v.task = t.task and v.judge_id = d.judge_id
    anti join not_for as n
        on n.judge_id = d.judge_id and n.condition_id = t.condition_id and n.agent_id = t.agent_id and n.sample_id = t.sample_id
    where t.planned and t.failed is null
        and d.judge_id not in (select judge_id from judge_baselines where of_pairs)
        and session.in_share(d.seed, d.below, t.repetition, t.sample_id)
)
select
    c.condition, c.planned_samples, c.place, t.condition_id, t.agent_id, t.sample_id, t.repetition,
    c.has_clusters as is_clustered, if(c.has_clusters, n.cluster, null) as cluster,
    coalesce(j.scores, []) as scores,
    -- Where nothing decides, what all judges said of the sample has to do.
    coalesce(s.outside, if(d.condition_id is null, j.outside, false), false) as is_outside,
    coalesce(list_contains(s.unsampled, t.repetition), false) as not_sampled, coalesce(s.unsampled, []) as unsampled,
    case
        when is_outside or not_sampled then null
        when k.counts_as = 'minimum' or not j.passed then false
        when t.failed is null and u.kind is null and a.task is null then j.passed
    end as passed,
    case
        when not_sampled then 'in the share of no judge'
        when is_outside then 'no judge is for it'
        when t.failed is not null then t.failed
        when not j.passed or (j.passed and u.kind is null and a.task is null) then null
        when u.kind is not null then u.kind
        when j.passed then 'not judged'
        when len(j.scores) > 0 then 'no metric says which score passes'
        when j.scores is null and j.outside is not null then 'no metric applies to it'
        else 'not judged'
    end as why
from tasks as t
left join awaited as a on a.task = t.task
join conditions as c using (condition_id, agent_id)
left join (select distinct condition_id, agent_id from deciding) as d using (condition_id, agent_id)
left join not_judged as s on s.condition_id = t.condition_id and s.agent_id = t.agent_id and s.sample_id = t.sample_id
left join newest_samples as n on n.sample_id = t.sample_id
left join judged as j on j.task = t.task
left join unjudged as u on u.condition_id = t.condition_id and u.agent_id = t.agent_id
    and u.sample_id = t.sample_id and u.repetition = t.repetition
left join failure_kinds as k on k.kind = t.failed and k.stage = 'generate'
where t.planned and c.current and $only
