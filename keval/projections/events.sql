-- One row per line; position is the line's number over all files, from 1.
-- "Last" always means the highest position, never the latest time: clocks differ between machines.
-- A row's id in a table is its place there once the transaction that made the table is over, as it is before any view asks
-- for it; and lines are put into theirs in order (duckdb.org/docs/stable/sql/dialect/order_preservation).
select rowid + 1 as position, *
from lines
