-- One row per row of the tables of conditions and group of samples that have values of some fields in common: the first queries of
-- `group_scores` and `group_comparisons`. A condition in a group is taken for a condition of its own, whose id has the group's
-- number in it.
sample_group as (
    select sample_id, "by", dense_rank() over (order by "by") as number
    from (select sample_id, unnest($by) as "by" from samples)
),
group_name as (
    select distinct number, "by" from sample_group
),
own_planned_questions as (
    select q.* replace (q.condition_id || ' ' || g.number as condition_id)
    from main.planned_questions as q
    join (select sample_id, question_id from newest_samples join events using (position, sample_id)) as s using (question_id)
    join sample_group as g using (sample_id)
),
planned as (
    select condition_id, agent_id, sum(repetitions)::bigint as planned, count(*) as samples
    from own_planned_questions
    group by condition_id, agent_id
),
own_conditions as (
    select
        c.* replace (
            c.condition_id || ' ' || g.number as condition_id, p.planned as planned, p.samples as planned_samples,
            c.planned_repetitions as planned_repetitions
        )
    from main.conditions as c
    cross join group_name as g
    left join planned as p on p.condition_id = c.condition_id || ' ' || g.number and p.agent_id = c.agent_id
),
own_series as (
    select s.* replace (s.condition_id || ' ' || g.number as condition_id) from main.series as s, group_name as g
),
own_sample_means as (
    select s.* replace (s.condition_id || ' ' || g.number as condition_id)
    from main.sample_means as s
    join sample_group as g using (sample_id)
),
own_computed_scores as (
    select s.* replace (s.condition_id || ' ' || g.number as condition_id)
    from main.computed_scores as s
    join sample_group as g using (sample_id)
)
