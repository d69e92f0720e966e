-- One row per line of the files, whole. position is that of `events`. A view: the files are read again each time.
select row_number() over () as position, line
from ($lines)
