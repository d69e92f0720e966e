-- One row per judge and sample that it is not for: whatever is answered to it, or fails, counts for other judges alone.
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
    select sample_id, arg_max(sample, d.position) as sample
    from declarations as d
    join (select distinct sample_id from failure_facts where stage = 'generate' and current) on sample_id = map_extract_value(sample, 'id') ->> '$'
    group by sample_id
),
compared as (
    select judge_id, sample_id, field, map_extract_value(sample, field) as value,
        unnest(if(json_type(given) = 'ARRAY', json_extract(given, '$[*]'), [given])) as one_wanted
    from wanted, failed
)
select distinct judge_id, sample_id from score_facts where outside
union
select judge_id, sample_id
from (
    select judge_id, sample_id, field, bool_or(coalesce(
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
