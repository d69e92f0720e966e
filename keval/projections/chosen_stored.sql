-- One row per stored line that tells of the samples that new lines are about, or of runs; and per one of no sample, such
-- as a label, whose id a new line has.
select rowid as place, * from stored.lines where sample_id in (from touched)
union all
select rowid as place, * from stored.lines where rowid in (select position - 1 from stored.run_facts)
union all
select rowid as place, * from stored.lines
where sample_id is null and id in (select id from rest.lines) and rowid not in (select position - 1 from stored.run_facts)
