-- One row per line that says what is to be done, or what changed, with its position, and per failure of the agent.
select position, * exclude (position, type, stage)
from (select row_number() over () as position, * from ($declarations))
where type in ($types) or stage = 'generate'
