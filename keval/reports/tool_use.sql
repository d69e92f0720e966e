-- One row per condition and agent with answers: what the tools did in them; see ToolUse.
-- How many calls there were is not known of an agent that does not report them.
with searched as (
    select r.condition_id, r.agent_id,
        count(*) filter (coalesce(c.is_searched, r.is_searched)) as searched
    from current_lines as r
    left join (from newest_samples where corrected) as c using (sample_id)
    where r.type = 'response'
    group by r.condition_id, r.agent_id
),
silent as (
    select agent.agent_id from runs where not agent.reports_tool_calls
),
used as (
    select condition_id, agent_id,
        sum(calls)::bigint as calls,
        sum(failed)::bigint as failed,
        count(*) filter (found) as found,
        count(*) filter (len(found_by) > 0) as found_elsewhere,
        list_sort(list_distinct(flatten(list(found_by)))) as tools_elsewhere
    from tool_use
    group by condition_id, agent_id
)
select
    condition_id, agent_id,
    case when agent_id not in (from silent) then coalesce(calls, 0) end as calls,
    case when agent_id not in (from silent) then coalesce(failed, 0) end as failed,
    case when agent_id not in (from silent) then searched else 0 end as searched,
    coalesce(found, 0) as found, coalesce(found_elsewhere, 0) as found_elsewhere,
    coalesce(tools_elsewhere, []) as tools_elsewhere
from searched
left join used using (condition_id, agent_id)
