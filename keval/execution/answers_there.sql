-- One row: how many of the config's tasks have their answer, and when the newest answer of its agent was given.
select
    (select count(distinct number) from answered_tasks) as answers,
    (select max(time) from facts where type = 'response' and agent_id = $agent_id and ($mock or not mock)) as newest
