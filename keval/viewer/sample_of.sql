-- One row at most: the sample of an answer or a failure.
select sample_id from facts where id = $id or response_id = $id limit 1
