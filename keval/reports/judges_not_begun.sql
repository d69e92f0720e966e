-- One row per judge of the newest config that asks no model and has answers to judge, none of which it has judged or failed to
-- judge: whether an answer passes may be for it to say.
with newest as (
    select unnest(judges) as judge
    from (select judges from run_facts where cardinality(conditions) > 0 and command <> 'import' order by rank desc limit 1)
)
select judge.name as judge
from newest
where judge.model is null and coalesce(len(judge.models), 0) = 0
    and judge.judge_id in (select judge_id from outcomes where state = 'not_done')
    and judge.judge_id not in (select judge_id from latest where type in ('judgment', 'failure') and judge_id is not null)
order by judge
