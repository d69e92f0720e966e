-- One row per line that tells of a chosen task; see told.sql.
with chosen as ($chosen),
$told
