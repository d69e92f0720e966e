-- One row per line of a file, whole.
select json as line
from read_ndjson_objects(
    $path,
    compression = 'uncompressed',
    hive_partitioning = false,
    maximum_object_size = $longest_line,
    ignore_errors = true
)
