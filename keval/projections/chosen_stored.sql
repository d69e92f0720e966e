-- One row per stored line that tells of the samples that new lines are about, or of runs.
select rowid as place, * from stored.lines where sample_id in (from touched)
union all
select rowid as place, * from stored.lines where rowid in (select position - 1 from stored.run_facts)
