-- One row per label, what a person said of a verdict: the last event of its id, unless retracted. judge_id and metric say of
-- which verdict, null: of all of that response. It has a verdict or scores. passed: whether the judge had passed the
-- response then, null: nobody says. draw: how the response came to be labelled.
-- current: it is of the answer that counts, by the text that the person read or, where the label does not say it, by its place
-- behind the answer; and a verdict was given after the judgments. A person's own score is of the answer, whatever a judge says later.
select
    position, log, id, time, run_id,
    response_id, sample_id, condition, condition_id, repetition, agent_id, judge_id, line ->> '$.metric' as metric,
    line ->> '$.labeler' as labeler, line ->> '$.verdict' as verdict,
    try_cast(line -> '$.scores' as map(varchar, double)) as scores, line ->> '$.note' as note,
    try_cast(line ->> '$.passed' as boolean) as passed,
    try_cast(line -> '$.draw' as struct(method varchar, seed bigint)) as draw,
    current
from (select f.*, $line as line from label_facts as f)
join files using (file)
