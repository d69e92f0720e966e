-- One row per stored line that says what is to be done, or what changed, after the lines of other files.
select * replace (position + $before as position) from stored.declarations
