-- One row per trial, with the counts of its sample; see trial_verdicts and trial_counts. Trials in the share of no judge are left out,
-- but for a sample that has no others.
with trial as materialized ($trials),
counted as ($counts)
select counted.*, t.condition_id, t.agent_id, t.repetition, t.scores, t.passed, t.why
from trial as t
join counted using (place, sample_id)
where not t.not_sampled or counted.done = 0
