-- One row per view with its columns.
select table_name as name, list(column_name order by column_index) as columns
from duckdb_columns()
where list_contains($views, table_name) and schema_name = 'main' and not internal
group by table_name
