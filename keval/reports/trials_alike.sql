-- One row per condition and samples whose trials went alike, with how many these are; see trial_counts.
select * exclude (sample_id, samples), count(*) as samples
from ($counts)
group by all
order by all
