-- One row per current condition with answers: means over samples of what a house score is made of beside the scores. speed is
-- the mean of 1 / (1 + seconds), null where the duration of an answer is not known; undisturbed the share of answers without
-- a tool call that failed, null for an agent that does not report its calls.
with silent as (
    select agent.agent_id from runs where not agent.reports_tool_calls
),
of_sample as (
    select
        r.condition_id, r.agent_id, r.sample_id, count(*) - count(r.duration_ms) as untimed,
        favg(1 / (1 + r.duration_ms / 1000)) as speed,
        favg((coalesce(u.failed, 0) = 0)::int) as undisturbed
    from current_lines as r
    left join tool_use as u using (position)
    where r.type = 'response'
    group by r.condition_id, r.agent_id, r.sample_id
)
select
    c.condition,
    if(sum(s.untimed) > 0, null, round(favg(s.speed), 15)) as speed,
    if(c.agent_id in (from silent), null, round(favg(s.undisturbed), 15)) as undisturbed
from of_sample as s
join conditions as c using (condition_id, agent_id)
where c.current
group by c.condition, c.agent_id, c.place
order by c.place
