-- One row per run: a call of a command that appended to the log, with what it was asked to do.
-- Conditions and judges are in the config's order.
-- rank: the newest run, which says what is planned, has the highest one. It is the last in the log, but for two that
-- replace none: a mock run in a log with real responses, and a run whose plan a crash cut off.
select position, log, run_facts.* exclude (position, file, line_offset, first_position, has_config)
from run_facts
join files using (file)
