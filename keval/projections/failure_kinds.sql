-- One row per kind of failure and stage, out of keval/failure_kinds.py: whose fault it is, whether it counts as the scale's
-- minimum or as missing, whether it is tried again, and words for people.
select * from (values $failure_kinds)
    as kinds(kind, stage, fault, counts_as, retried, happened, next_step)
