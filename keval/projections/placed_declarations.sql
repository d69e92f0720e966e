-- One row per line that says what is to be done, or what changed, with its position.
select position, declared.* exclude (type)
from (select unnest($positions::bigint[]) as position)
positional join ($declarations) as declared
