-- The responses of a config's tasks that are not asked for again; with $everything also those of no task of the config
-- that answer a current question, of the mock only for a mock run.
select position from answered_tasks where not $fresh
union
select position from facts
where type = 'response' and $everything and asked and ($mock or not mock) and position not in (select position from ($of_config))
