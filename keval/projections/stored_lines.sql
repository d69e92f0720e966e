-- One row per line that is stored.
select $file::smallint as file, * exclude (file) from stored.lines
