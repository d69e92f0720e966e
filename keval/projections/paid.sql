-- One row per event that may have cost something, whatever became of it: a line that stands in several logs was paid for
-- once, and counts for the first. mock: a stand-in made it, which nobody paid. asked_nobody: a judgment that is known without asking:
-- the judge is not for the sample, or an answer is compared with itself; it says nothing of what a judgment costs.
select
    position, type, id, file, time, run_id, condition, condition_id, agent_id, response_id, other_response_id,
    case type when 'response' then 'generate' when 'judgment' then 'judge' else stage end as stage,
    judge, judge_id, cost_usd, usage, failed_attempts,
    type = 'judgment' and (
        coalesce(response_id = other_response_id, false)
        or coalesce(cost_usd = 0, false) and usage is null and len(list_filter(map_values(scores), lambda given: given.score is not null)) = 0
    ) as asked_nobody,
    coalesce(mock, run_id in (select run_id from run_facts where mock), false) as mock
from events
where type in ('response', 'judgment', 'failure') and position not in (from repeated)
