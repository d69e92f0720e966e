-- One row: all that a remote file holds.
select content from read_blob($address)
