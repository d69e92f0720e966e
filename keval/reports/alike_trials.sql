-- One row per condition, cluster and way in which the trials of a sample went: samples is of how many they went so; see trial_counts.
select * exclude (sample_id, samples), count(*) as samples
from ($counts)
group by all
order by all
