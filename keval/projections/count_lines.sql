-- One row per table of lines: how many rows there are, and how many of them are events; of what is none, DuckDB makes nulls.
select count(*) as lines, count(type) as events from lines
