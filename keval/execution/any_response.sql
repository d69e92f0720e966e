-- A row if the log holds a response.
select position from facts where type = 'response' limit 1
