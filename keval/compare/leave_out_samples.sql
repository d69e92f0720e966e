-- Leaves samples out of the means of two logs, but for those by judges to which they are the same.
delete from sample_means where sample_id in $names and judge_id not in $judges
