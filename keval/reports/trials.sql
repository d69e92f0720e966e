-- One row per trial with what was asked and answered; see trial_verdicts.
select
    t.*, s.sample, r.text, r.turns, r.duration_ms
from ($trials) as t
left join samples as s using (sample_id)
left join responses as r on r.condition_id = t.condition_id and r.agent_id = t.agent_id
    and r.sample_id = t.sample_id and r.repetition = t.repetition and r.current
order by t.place, s.position, t.sample_id, t.repetition, r.position
