-- One row per judge, condition, agent and sample that the judge is not for: whatever is answered to it, or fails, counts for other judges
-- alone. What is said of one answer goes for all that asks the same question, under whatever condition; not for all of its id:
-- in a log of several configs it may name other records.
-- Judgments say so; of a sample that the agent fails to answer its newest record does, as in JudgeConfig.not_for.
with wanted as (
    select judge_id, unnest(map_keys(only_for)) as field, unnest(map_values(only_for)) as given
    from (
        select judge.judge_id as judge_id, any_value(judge.only_for) as only_for
        from (select unnest(judges) as judge from run_facts)
        group by judge.judge_id
    )
),
failed as (
    select f.condition_id, f.agent_id, f.sample_id, f.question_id, arg_max(d.sample, d.position) as sample
    from (
        select distinct condition_id, agent_id, sample_id, question_id from failure_facts where stage = 'generate' and current
    ) as f
    join declarations as d on map_extract_value(d.sample, 'id') ->> '$' = f.sample_id
    join events as e on e.position = d.position and coalesce(e.question_id = f.question_id, true)
    group by f.condition_id, f.agent_id, f.sample_id, f.question_id
),
valued as (
    -- A field that is a list has each of its elements for a value.
    select *, unnest(if(json_array_length(held) > 0, json_extract(held, '$[*]'), [held])) as value
    from (select *, map_extract_value(sample, field) as held from wanted, failed)
),
compared as (
    select judge_id, condition_id, agent_id, sample_id, question_id, field, value,
        unnest(if(json_type(given) = 'ARRAY', json_extract(given, '$[*]'), [given])) as one_wanted
    from valued
),
told as (
    select s.judge_id, s.condition_id, s.agent_id, s.sample_id, e.question_id
    from events as e
    join (from score_facts where outside) as s on s.answer = e.position
    union
    select judge_id, condition_id, agent_id, sample_id, question_id
    from (
        select judge_id, condition_id, agent_id, sample_id, question_id, field, bool_or(coalesce(
            -- To JSON, 1 is 1.0, and neither true nor "1".
            case
                when json_type(value) = json_type(one_wanted) and json_type(value) <> 'DOUBLE' then value ->> '$' = one_wanted ->> '$'
                when json_type(value) in ('BIGINT', 'UBIGINT', 'DOUBLE') and json_type(one_wanted) in ('BIGINT', 'UBIGINT', 'DOUBLE')
                    then value::double = one_wanted::double
            end,
            false
        )) as is_wanted
        from compared
        group by all
    )
    where not is_wanted
)
select judge_id, condition_id, agent_id, sample_id from told
union
select t.judge_id, e.condition_id, e.agent_id, e.sample_id
from events as e
join (select distinct judge_id, question_id from told) as t using (question_id)
where e.type in ('response', 'failure')
