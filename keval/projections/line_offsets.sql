-- One row per line, in the order of `lines`: its position, and the byte of its file at which it begins, if that is known.
select rowid + 1 as position, null::bigint as line_offset from lines
