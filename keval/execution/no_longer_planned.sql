-- One row: how many responses that count by a config's newest run are in its plan no more, and why: of how many samples, of how
-- many repetitions, and under which conditions, by name. What the plan of another config has still counts.
select
    count(*) as responses,
    count(distinct sample_id) filter (sample_id not in (select sample_id from config_samples)) as samples,
    count(distinct repetition) filter (repetition > $repetitions) as repetitions,
    coalesce(list(distinct condition order by condition) filter (condition_id in ($gone_ids)), []) as conditions
from facts
where type = 'response' and current and agent_id = $agent_id and condition_id in ($condition_ids) and mock = $mock
    and (
        condition_id in ($gone_ids) or repetition > $repetitions
        or sample_id not in (select sample_id from config_samples)
    )
    and condition_id not in (
        select condition_id from planned_conditions where agent_id = $agent_id and config_name <> $config_name
    )
