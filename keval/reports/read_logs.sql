-- One row per log that was read, by the name it was given.
select log from files order by file
