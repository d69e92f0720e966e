-- One row: how many of the config's tasks have their answer, when the newest answer of its agent was given, and how many
-- failed and have none.
select
    (select count(distinct number) from answered_tasks) as answers,
    (select max(time) from facts where type = 'response' and agent_id = $agent_id and ($mock or not mock)) as newest,
    (
        select count(distinct f.number) from ($failed_tasks) as f
        where f.number not in (select number from answered_tasks)
    ) as failed
