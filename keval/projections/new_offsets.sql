-- One row per line that was checked: its position, and the byte of its file at which it begins.
select row_number() over () + $before as position, line_offset from $given
