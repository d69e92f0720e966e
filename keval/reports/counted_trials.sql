-- One row per trial, with how all of its sample went; see trial_verdicts and trial_counts. Of a sample that has trials in the share of a
-- judge only these.
with trial as materialized ($trials),
counted as ($counts)
select counted.*, t.condition_id, t.agent_id, t.repetition, t.scores, t.passed, t.why
from trial as t
join counted using (place, sample_id)
where not t.not_sampled or counted.done = 0
