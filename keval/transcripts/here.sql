-- One row per event of chosen samples that counts, as `facts` has it; fits: what the id of the sample has to be. Found by one
-- column, and only then joined, by their places: `facts` would join all columns of every line.
select
    e.position, o.line_offset, e.* exclude (position, mock), s.* exclude (position, counts)
from (from events where $fits) as e
join line_offsets as o using (position)
join standing as s using (position)
where s.counts
