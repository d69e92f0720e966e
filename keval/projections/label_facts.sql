-- One row per label, without its texts: the last event of its id, unless retracted, with the response that it is about.
-- current: it was given after that answer and after the judgments of it: what was said of an earlier answer or verdict is
-- not said of this one.
select
    l.position, l.file, l.line_offset, l.id, l.time, l.run_id, l.response_id, l.judge_id,
    r.sample_id, r.condition, r.condition_id, r.repetition, r.agent_id,
    coalesce(l.position > r.position, false) and not exists (
        from judgment_facts as j
        where j.response_id = l.response_id and j.current and j.position > l.position
            and (l.judge_id is null or l.judge_id = j.judge_id)
    ) as current
from facts as l
left join response_facts as r on r.id = l.response_id
where l.type = 'label'
