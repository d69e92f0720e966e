-- One row per judgment and metric, without the reasoning, of the judgments that are current. score is null where the
-- metric is not applicable, for the reason that stands there. outside: the judge is not for the sample. is_asked: no tie that was
-- given without asking, which is that of an answer with the same one.
select
    j.file, j.line_offset, j.run_id, j.condition_id, j.agent_id,
    j.sample_id, j.repetition, j.replicate,
    j.judge.name as judge, j.judge_id, j.response_id, j.answer,
    j.metric, j.given.score as score, j.given.min as min, j.given.max as max, j.given.passed as passed,
    j.given.not_applicable as not_applicable, j.given.outside as outside,
    j.other_response_id, j.position, j.mock,
    j.judge.type is distinct from 'pairwise' or j.order_dependent is not null as is_asked
from (
    select
        * exclude (scores),
        unnest(map_keys(scores)) as metric,
        unnest(map_values(scores)) as given
    from latest
    join judgment_standings as s using (position)
    join line_offsets using (position)
    where type = 'judgment' and s.current
) as j
