-- One row per trial with where what was asked and answered stands; see trial_verdicts. Texts are read from there, one at a
-- time: to put them in order, a database would keep all of them in memory.
select
    t.*, s.file as sample_file, s.line_offset as sample_offset, r.file as answer_file, r.line_offset as answer_offset, r.duration_ms
from ($trials) as t
left join newest_samples as s using (sample_id)
left join response_facts as r on r.condition_id = t.condition_id and r.agent_id = t.agent_id
    and r.sample_id = t.sample_id and r.repetition = t.repetition and r.current
order by t.place, s.position, t.sample_id, t.repetition, r.position
