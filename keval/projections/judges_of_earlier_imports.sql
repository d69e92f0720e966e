-- One row per condition and judge of imports that the newest import of the condition does not name any more, and no run but an
-- import ever named: it was imported anew by another mapping, and its earlier scores are not current, be it that the judge
-- still counts under another condition.
with named as (
    select
        config_name, rank, unnest(map_keys(conditions)) as condition, unnest(map_values(conditions)).condition_id as condition_id,
        list_transform(judges, lambda judge: judge.judge_id) as judge_ids
    from run_facts
    where command = 'import'
),
newest as (
    select arg_max({condition_id: condition_id, judge_ids: judge_ids}, rank) as newest from named group by config_name, condition
)
select condition_id, judge_id
from (select condition_id, unnest(judge_ids) as judge_id from named)
where not $everything
    and judge_id not in (select judge.judge_id from run_facts, unnest(judges) as judging(judge) where command <> 'import')
except
select newest.condition_id, unnest(newest.judge_ids) from newest
