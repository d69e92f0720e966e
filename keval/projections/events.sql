-- One row per line; position is the line's number over all files, from 1.
-- "Last" always means the highest position, never the latest time: clocks differ between machines.
-- DuckDB guarantees that an empty OVER () numbers rows in the order of their source, and that read_json
-- delivers lines and files in order (duckdb.org/docs/stable/sql/dialect/order_preservation).
select row_number() over () as position, *
from lines
