-- One row per event that counts, as its line says it: the last one of its type and id, of those that no later line retracts.
-- mock: a stand-in made it, by its own account or, if it says nothing of that, by that of its run.
select * exclude (counts) from marked_events where counts
