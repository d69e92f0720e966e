-- One row per line of a remote file, as it stands there.
select json from read_ndjson_objects(
    $address, compression = 'uncompressed', hive_partitioning = false, maximum_object_size = $longest_line
)
