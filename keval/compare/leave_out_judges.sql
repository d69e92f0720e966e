-- Leaves judges out of the means of two logs.
delete from sample_means where judge_id in $judges
