-- One row per condition and agent, with what is planned for it: what the newest run says, and null if it does not have
-- the condition.
-- The name is that of the newest run that has the condition; without one, that of its last event.
-- current: the newest run that has a condition of this name means this one by it, with this agent. An edited prompt
-- makes another condition of the same name; the old one stays, but is not current.
-- place: current conditions first, in the order of the newest run's config, then those that no run announced, by
-- name; the first is the baseline.
with announced as (
    select condition, described.condition_id as condition_id, agent.agent_id as agent_id,
        described.tasks as planned,
        coalesce(repetitions, described.tasks // nullif(dataset.samples, 0)) as repetitions,
        position, ordinal, row_number() over (order by position, ordinal) as sequence
    from (
        select *,
            unnest(map_keys(conditions)) as condition, unnest(map_values(conditions)) as described,
            generate_subscripts(map_keys(conditions), 1) as ordinal
        from runs
    )
),
-- Events of a condition that no run announced have a sequence before that of any run.
mentioned as (
    select condition, condition_id, agent_id, planned, repetitions, position as announced_at, ordinal, sequence
    from announced
    union all
    select condition, condition_id, agent_id, null, null, null, null,
        max(position) - (select max(position) from events) - 1
    from (
        select condition, condition_id, agent_id, position from response_facts
        union all select condition, condition_id, agent_id, position from judgment_facts
        union all select condition, condition_id, agent_id, position from failure_facts
    )
    group by condition, condition_id, agent_id
),
condition as (
    select
        condition_id, agent_id,
        arg_max(condition, sequence) as condition,
        arg_max(planned, sequence) as planned,
        arg_max(repetitions, sequence) as repetitions,
        max(announced_at) as announced_at,
        arg_max(ordinal, sequence) as ordinal
    from mentioned
    group by condition_id, agent_id
),
meaning as (
    select condition, arg_max({c: condition_id, a: agent_id}, sequence) as newest
    from mentioned
    group by condition
),
-- What an older run planned is planned no more.
planned as (
    select * exclude (planned, repetitions),
        if(announced_at = newest_at, planned, null) as planned,
        if(announced_at = newest_at, repetitions, null) as repetitions
    from condition, (select max(position) as newest_at from announced)
)
select
    condition, condition_id, agent_id,
    newest = {c: condition_id, a: agent_id} as current,
    planned,
    repetitions as planned_repetitions,
    planned // nullif(repetitions, 0) as planned_samples,
    row_number() over (
        order by newest = {c: condition_id, a: agent_id} desc,
            announced_at desc nulls last, ordinal, condition, condition_id, agent_id
    ) as place
from planned
join meaning using (condition)
