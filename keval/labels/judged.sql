-- One row per answer and metric that a judge scored, with the answer's place in the draw of its condition. The draw is by a hash of
-- seed, sample and repetition: the same samples in every condition, and first one answer to each sample, since the sample is
-- the unit. A larger draw has all of a smaller one.
select
    *,
    dense_rank() over (
        partition by condition_id, agent_id
        order by turn, sha256($seed || ' ' || sample_id), sample_id, repetition
    ) as place
from (
    select
        v.*, r.line_offset,
        dense_rank() over (
            partition by v.condition_id, v.agent_id, v.sample_id
            order by sha256($seed || ' ' || v.repetition || ' ' || v.sample_id), v.repetition
        ) as turn,
        sha256($seed || ' ' || v.response_id) as draw
    from ($verdicts) as v
    join response_facts as r on r.position = v.position
    where v.score is not null
        -- A person who sees one answer cannot say which of two is better.
        and v.judge_id not in (from pair_judges)
)
