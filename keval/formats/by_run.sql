-- One folder per run: the rows of a view that are of it. The column stays in the files, too, so that each can be read by
-- itself: of folders alone, DuckDB takes ids that are all digits for numbers.
copy $view to $folder (format parquet, compression $compression, partition_by (run_id), write_partition_columns true)
