-- One row per rule by which conditions of several logs count failures, if there are some that count.
select distinct failures
from conditions
where exists (from sample_means where agent_failed > 0)
order by failures
