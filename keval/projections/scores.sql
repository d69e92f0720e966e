-- One row per judgment and metric, of the judgments that are current; and one per answer and metric that is computed from
-- the judges' scores, whose type of formula is computed. score is null where the judge found the metric not applicable, or a
-- part of what is computed is not known, for the reason in why_null.
-- passed is what the judge itself said: null of a metric that only grades, as what passes by its pass_from, or another score, is
-- for `keval trials`, `aggregate` and `gate` to say.
-- condition is the newest name of the condition; after an edited prompt, `where current` leaves out the condition
-- that had the name before.
select said.* replace (if(said.computed is null, j.judgment_id, null) as judgment_id)
from (
    select
        log, s.run_id,
        c.condition, condition_id, agent_id, c.current,
        s.sample_id, s.repetition, s.replicate,
        s.judge, s.judge_id, s.response_id, null::varchar as judgment_id,
        s.metric, s.score, s.min, s.max, s.passed, s.not_applicable,
        try_cast(line -> '$.scores' as map(varchar, struct(reasoning varchar)))[s.metric].reasoning as reasoning,
        s.position, s.mock,
        null as computed, s.not_applicable as why_null
    from (select f.*, $line as line from score_facts as f) as s
    join files using (file)
    join conditions as c using (condition_id, agent_id)
    union all
    select
        log, s.run_id,
        c.condition, condition_id, agent_id, c.current,
        s.sample_id, s.repetition, null as replicate,
        m.judge, judge_id, s.response_id, null as judgment_id,
        metric, s.score, s.min, s.max, s.passed, s.not_applicable,
        null as reasoning,
        s.position, s.mock,
        s.computed, s.why_null
    from computed_scores as s
    join files using (file)
    join conditions as c using (condition_id, agent_id)
    join metrics as m using (judge_id, metric)
) as said
-- The id of a judgment takes as much room as all numbers of a score, and is rarely asked for, so it is looked up. Grouped: so DuckDB
-- knows that there is one at most, and joins nothing where nobody asks for it.
left join (select position, any_value(id) as judgment_id from judgment_facts group by position) as j on j.position = said.position
