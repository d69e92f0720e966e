-- One row per run that names judges, the oldest first: where its line begins.
select line_offset from run_facts where len(judges) > 0
order by position
