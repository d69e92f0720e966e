-- One row per field that any sample has, in the order of their names.
select distinct unnest(json_keys(sample)) as field from samples order by field
