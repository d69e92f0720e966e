-- One row per line that a writer has added since the lines were checked: it is removed.
delete from lines where rowid >= $lines
