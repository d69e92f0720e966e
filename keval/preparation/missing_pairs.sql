-- One row per judgment that is missing, of the judges of pairs: the position of its response, the judge's place, the
-- replicate, and the position of the baseline's response. It is missing as soon as both responses are there, and as long as the
-- baseline's counts ($counts): without it no judgment of the pair does. What $counts says decides, and not whether the newest
-- plan has the baseline's response (`same_answer`): a judgment need not be made again if it compared the present texts.
with baseline as (
    select condition_id, question_id, agent_id, repetition, id as other, position as other_position, answer_sha256, mock
    from facts
    where type = 'response' and $counts and condition_id in (select baseline_id from pairing)
),
wanted as (
    select
        e.position, j.place, j.judge_id, unnest(range(1, j.replicates + 1)) as replicate, o.other, o.other_position,
        e.answer_sha256, o.answer_sha256 as other_answer_sha256
    from facts as e
    semi join ($responses) as r using (position)
    join pairing as p using (condition_id)
    join judging as j on j.place = p.judge
    join baseline as o
        on o.condition_id = p.baseline_id and o.question_id = e.question_id and o.agent_id = e.agent_id
        and o.repetition = e.repetition and ($mock or o.mock = e.mock)
    where e.type = 'response'
        and session.in_share(j.seed, j.below, e.repetition, e.sample_id)
)
select w.position, w.place, w.replicate, w.other_position
from wanted as w
anti join (select * from ($judgments) where same_sample) as j
    on j.answer = w.position and j.judge_id = w.judge_id and j.replicate = w.replicate and j.other = w.other
    and coalesce(j.answer_sha256 = w.answer_sha256, true)
    and coalesce(j.other_answer_sha256 = w.other_answer_sha256, true)
