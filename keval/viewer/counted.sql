-- One row: how many samples are on a list.
select count(*) as samples from ($listed)
