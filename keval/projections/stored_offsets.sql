-- One row per line that is stored: where it stands after the lines of other files, and where it begins in its own.
select position + $before as position, line_offset from stored.line_offsets
