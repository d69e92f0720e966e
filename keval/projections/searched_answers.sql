-- One row per current response whose golden answer is looked for in what its tools returned: it has at least 20
-- characters, in lower case with each run of whitespace as one space. A shorter one would be found by chance.
select
    r.id as response_id, c.condition, r.condition_id, r.agent_id, r.sample_id, r.repetition,
    lower(trim(regexp_replace(r.sample ->> '$.answer', '[\s\p{Z}]+', ' ', 'g'))) as golden_answer,
    r.turns
from responses as r
join conditions as c using (condition_id, agent_id)
where r.current and length(golden_answer) >= 20
