-- One row per condition and agent that a report shows: what became of its planned tasks.
select * from missing where current order by condition, condition_id, agent_id
