-- One row per line of a file that has the lines of several logs, one log after the other, with the number of its log.
select given.file::smallint as file, line.* exclude (file)
from (
    select file, unnest(range(lines)) as place
    from (select unnest($files::bigint[]) as file, unnest($counts::bigint[]) as lines)
) as given
positional join ($lines) as line
