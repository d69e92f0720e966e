-- One row per set of new lines, those of `rest.lines`: whether they change nothing but what becomes of the samples that
-- they are about: they tell of no run, take nothing back, are about no event of another sample; and of these samples everything is about
-- conditions, judges and metrics that runs told of, so that these are the same whatever counts.
with key as (
    select id from rest.lines
    union
    -- What a label is about stays as it is.
    select response_id from rest.lines where response_id is not null and type <> 'label'
    union
    select other_response_id from rest.lines where other_response_id is not null
),
about as (
    select type, stage, condition, condition_id, agent_id, judge_id, scores
    from stored.lines
    where sample_id in (from touched)
    union all
    select type, stage, condition, condition_id, agent_id, judge_id, scores
    from rest.lines
),
announced as (
    select condition, described.condition_id as condition_id, agent.agent_id as agent_id, judges
    from (
        select agent, judges, unnest(map_keys(conditions)) as condition, unnest(map_values(conditions)) as described
        from stored.run_facts
    )
),
named as (
    select judge.judge_id as judge_id, unnest(judge.metrics).name as metric
    from (select unnest(judges) as judge from stored.run_facts)
),
pair as (
    select condition_id, agent_id, judge.judge_id as judge_id from announced, unnest(judges) as judging(judge)
    union
    -- A judge that was run by itself concerns all conditions.
    select a.condition_id, a.agent_id, n.judge_id
    from announced as a, named as n
    where n.judge_id not in (select judge.judge_id from announced, unnest(judges) as judging(judge))
),
scored as (
    select condition_id, agent_id, judge_id, unnest(map_keys(scores)) as metric from about where type = 'judgment'
),
judged as (
    select condition_id, agent_id, judge_id from scored
    union
    select condition_id, agent_id, judge_id from about where type = 'failure' and stage = 'judge'
)
select (select is_separable from stored.is_separable)
    and not exists (from rest.lines where type in ($changes_all))
    and not exists (
        from about
        anti join announced using (condition, condition_id, agent_id)
        where type in ('response', 'judgment', 'failure')
    )
    and not exists (from judged anti join pair using (condition_id, agent_id, judge_id))
    and not exists (from scored anti join named using (judge_id, metric))
    -- A judge of which everything was taken back counts again, in all conditions, once it has judged anything.
    and not exists (from rest.lines semi join stored.replaced_judges using (judge_id))
    -- What a mock run plans counts only as long as there is no real response.
    and (
        not exists (from stored.run_facts where mock)
        or not exists (from rest.lines where type = 'response' and not coalesce(mock, false))
    )
    and not exists (
        from stored.lines
        where (
                id in (from key) or response_id in (from key) or other_response_id in (from key)
                or question_id in (select question_id from rest.lines)
            )
            -- A label, which says of no sample that it is about it, is chosen by its id.
            and sample_id is not null and sample_id not in (from touched)
    ) as continues
