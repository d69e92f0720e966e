-- One row per line: its position, and what becomes of it, as `standing` says it. A row's id is its place there, as in `events`.
select rowid + 1 as position, * from standing
