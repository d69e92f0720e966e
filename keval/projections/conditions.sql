-- One row per condition and agent, with what is planned for it: by the newest plans that have it, and null if none has it.
-- In a log without plans the newest run says it.
-- The name is that of the newest run that has the condition; without one, that of its last event.
-- failures: how the agent's own failures count, minimum or exclude; has_clusters: the config names a field by which samples
-- belong together.
-- newest: the newest run that has a condition of this name means this one by it, with this agent. An edited prompt
-- makes another condition of the same name; the old one stays, but is not the newest.
-- current: newest, and planned; or newest, when all that answers a current question was asked for.
-- place: current conditions first, in the order of the newest run's config, then those that no run announced, by
-- name; the first is the baseline unless the config names another. Those of imports come in the order of their first imports,
-- after one that is called baseline.
with announced as (
    select condition, described.condition_id as condition_id, agent.agent_id as agent_id,
        described.tasks as planned,
        coalesce(repetitions, described.tasks // nullif(dataset.samples, 0)) as repetitions,
        coalesce(config ->> '$.failures', 'minimum') as failures,
        (config -> '$.dataset.cluster_key') is not null or coalesce(len(config -> '$.datasets[*].cluster_key') > 0, false)
            as has_clusters,
        command = 'import' as imported,
        rank, first_position, ordinal, row_number() over (order by rank, ordinal) as sequence
    from (
        select *,
            unnest(map_keys(conditions)) as condition, unnest(map_values(conditions)) as described,
            generate_subscripts(map_keys(conditions), 1) as ordinal
        from run_facts
    )
),
-- Events of a condition that no run announced have a sequence before that of any run.
mentioned as (
    select
        condition, condition_id, agent_id, planned, repetitions, failures, has_clusters, imported,
        rank as announced_at, first_position, ordinal, sequence
    from announced
    union all
    select condition, condition_id, agent_id, null, null, null, null, null, null, null, null,
        max(position) - (select max(position) from events) - 1
    from mentions
    group by condition, condition_id, agent_id
),
condition as (
    select
        condition_id, agent_id,
        arg_max(condition, sequence) as condition,
        arg_max(planned, sequence) as planned,
        arg_max(repetitions, sequence) as repetitions,
        coalesce(arg_max(failures, sequence), 'minimum') as failures,
        coalesce(arg_max(has_clusters, sequence), false) as has_clusters,
        max(announced_at) as newest_at,
        if(arg_max(imported, sequence), -min(first_position), max(announced_at)) as announced_at,
        coalesce(arg_max(imported, sequence), false) and arg_max(condition, sequence) = 'baseline' as is_baseline,
        arg_max(ordinal, sequence) as ordinal
    from mentioned
    group by condition_id, agent_id
),
meaning as (
    select condition, arg_max({c: condition_id, a: agent_id}, sequence) as newest
    from mentioned
    group by condition
),
by_plan as (
    select condition_id, agent_id, sum(repetitions)::bigint as planned, max(repetitions) as repetitions,
        count(*) as samples
    from planned_questions
    group by condition_id, agent_id
),
-- What an older run planned is planned no more.
by_run as (
    select condition_id, agent_id, planned, repetitions, planned // nullif(repetitions, 0) as samples
    from condition
    where not exists (from plans) and newest_at = (select max(rank) from announced)
),
known as (
    select
        condition, condition_id, agent_id,
        meaning.newest = {c: condition_id, a: agent_id} as newest,
        p.planned, p.repetitions as planned_repetitions, p.samples as planned_samples,
        failures, has_clusters, is_baseline, announced_at, ordinal
    from condition
    join meaning using (condition)
    left join (from by_plan union all from by_run) as p using (condition_id, agent_id)
)
select
    condition, condition_id, agent_id, newest,
    newest and (planned is not null or not exists (from plans) or $everything) as current,
    planned, planned_repetitions, planned_samples, failures, has_clusters,
    row_number() over (
        order by
            newest and (planned is not null or not exists (from plans) or $everything) desc,
            is_baseline desc, announced_at desc nulls last, ordinal, condition, condition_id, agent_id
    ) as place
from known
