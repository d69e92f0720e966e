-- One row per file that an address means: its own address, its bytes, and when it was changed last, in microseconds.
select filename, size, epoch_us(last_modified) from read_blob($address) order by filename
