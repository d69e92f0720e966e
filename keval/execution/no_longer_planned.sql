-- One row: how many responses that a config's newest run counts are of a sample, a repetition or a condition that the config
-- has no more.
select count(*) as responses
from facts
where type = 'response' and current and agent_id = $agent_id and condition_id in ($condition_ids) and ($mock or not mock)
    and (
        condition_id in ($gone_ids) or repetition > $repetitions
        or sample_id not in (select sample_id from $samples)
    )
