-- A row if every task of the newest plan, the only one in the log, has a response, and the newest records of the samples are
-- those of the dataset. They are if the run that planned it came to ask or to fail, for it noted all changed records before
-- that; and if no other run has written a record since.
with run as (
    select position from run_facts where run_id = $run_id and plan_id = $plan_id
),
since as (
    select
        bool_or(run_id = $run_id and type <> 'sample_change') as asked,
        bool_or(run_id <> $run_id and type <> 'failure') as disturbed
    from events
    where position > (from run)
        and (type in ('response', 'sample_change') or (type = 'failure' and stage = 'generate'))
)
select position
from run, since
where position = (select max(position) from plans having count(*) = 1) and asked and not disturbed
    and $tasks = (
        select count(*) from tasks
        where failed is null and planned and agent_id = $agent_id and condition_id in ($condition_ids)
            and repetition between 1 and $repetitions and ($mock or not mock)
    )
