-- One row per line that tells of a chosen task; see told.sql. here: where samples are chosen, all lines of them, so that a few
-- are found by one look through one column; else nothing.
with $here
chosen as ($chosen),
$told
