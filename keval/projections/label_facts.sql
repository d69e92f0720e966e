-- One row per label, without its texts: the last event of its id, unless retracted, with the response that it is about.
-- current: it is of the answer that counts, by the text that the person read or, where the label does not say it, by its place
-- behind the answer; and, of a verdict, it was given after the judgments: what was said of an earlier answer or verdict is not said
-- of this one. A person's own score is of the answer, whatever a judge says of it later.
with label as (
    select position, file, id, time, run_id, response_id, judge_id, answer_sha256, scores is not null as is_score
    from events
    where type = 'label' and position not in (select position from standing where not counts)
),
-- Of millions of events only those that labels are about.
response as (
    select position, id, sample_id, condition, condition_id, repetition, agent_id, answer_sha256
    from events
    where type = 'response' and id in (select response_id from label)
        and position not in (select position from standing where not counts)
),
judgment as (
    select position, response_id, judge_id
    from events
    where type = 'judgment' and response_id in (select response_id from label)
        and position not in (select position from standing where not coalesce(counts and current, false))
)
select
    l.position, l.file, o.line_offset, l.id, l.time, l.run_id, l.response_id, l.judge_id,
    r.sample_id, r.condition, r.condition_id, r.repetition, r.agent_id,
    coalesce(if(l.answer_sha256 is null, l.position > r.position, l.answer_sha256 = r.answer_sha256), false)
        and (l.is_score or not exists (
            from judgment as j
            where j.response_id = l.response_id and j.position > l.position and (l.judge_id is null or l.judge_id = j.judge_id)
        )) as current
from label as l
join line_offsets as o using (position)
left join response as r on r.id = l.response_id
