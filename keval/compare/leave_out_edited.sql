-- Leaves out of the means of two logs the samples that are another question in each.
delete from sample_means
where sample_id in (select sample_id from ($questions) where not is_same)
