-- One row per judge of the newest run of a config, or that was added: what it is called there.
select judge_id, name, is_added from current_judges order by name
