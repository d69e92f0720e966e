-- One row per stored line that tells of the samples that new lines are about, or of runs; and per one of no sample, such
-- as a label, whose id a new line has: its row's id in `stored.lines`, and where it begins.
select rowid as place, line_offset
from stored.line_offsets
where rowid in (
    select rowid from stored.lines where sample_id in (from touched)
    union all
    select position - 1 from stored.run_facts
    union all
    select rowid from stored.lines where sample_id is null and id in (select id from rest.lines)
)
