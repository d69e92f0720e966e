-- One row per file of lines: what the user calls the log, `-` for stdin. Other files may come before.
select (file - $before)::smallint as file, log
from session.files
where file > $before and file <= $before + $count
