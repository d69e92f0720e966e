-- One row per response, judgment and failure that is current, as its line says it. A report groups millions of them by ids
-- that repeat. DuckDB does that by their places in a dictionary, but not behind a join of all lines with what becomes
-- of them, as `facts` is: here only the lines that are left out are joined, those of other types among them, of none of which
-- `standing` says that it is current.
select * exclude (mock)
from events
where position not in (select position from standing where not coalesce(counts and current, false))
