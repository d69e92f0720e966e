-- One row per stratum and sample: the share of its verdicts that are passes, and how many there are.
select condition_id, agent_id, series, "by", sample_id, avg(passed::int) as share, count(*) as verdicts
from ($strata)
group by condition_id, agent_id, series, "by", sample_id
