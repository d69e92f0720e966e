-- One row per line that says what is to be done, or what changed, with its position, and per failure of the agent.
select position, declared.* exclude (type, stage)
from (select unnest($positions::bigint[]) as position)
positional join ($declarations) as declared
