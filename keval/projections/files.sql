-- One row per file of lines: what the user calls the log, `-` for stdin.
select number::smallint as file, name as log from $files as file(number, name)
