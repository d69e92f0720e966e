-- One row per agent and sample, with the newest version of the sample: that of its last response or failed task.
-- An edited question is another question: answers to the old one are never pooled with answers to the new one.
select agent_id, sample_id, arg_max(sample_sha256, position) as sample_sha256
from events
semi join latest using (position)
where (type = 'response' or (type = 'failure' and stage = 'generate')) and sample_sha256 is not null
group by all
