-- One row per verdict that is a pass or a failure, with its stratum and its place in the draw of that stratum. The draw is a
-- hash of the seed and the verdict: the same whatever is added, and a larger draw has all of a smaller one.
select
    v.*, r.line_offset, r.file, $by as "by",
    row_number() over (
        partition by v.condition_id, v.agent_id, v.series, v.passed, "by"
        order by sha256($seed || ' ' || v.response_id || ' ' || v.judge_id || ' ' || v.metric)
    ) as place,
    sha256($seed || ' ' || v.response_id || ' ' || v.judge_id || ' ' || v.metric) as draw
from ($verdicts) as v
join response_facts as r on r.position = v.position
left join samples as s on s.sample_id = v.sample_id
where v.passed is not null
    -- A person who sees one answer cannot say which of two is better.
    and v.judge_id not in (from pair_judges)
