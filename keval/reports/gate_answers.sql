-- One row per current condition and agent, in the config's order: its answers, what one costs on the mean, of how many that is
-- known, and within how many milliseconds the given share of those came whose time is known.
with answer as (
    select condition_id, agent_id, count(*) as answers, favg(cost_usd) as cost_usd, count(cost_usd) as priced,
        quantile_cont(duration_ms, $share) as duration_ms,
        count(duration_ms) as timed
    from current_lines
    where type = 'response'
    group by condition_id, agent_id
)
select
    c.condition, c.condition_id, c.agent_id, c.planned, c.planned_repetitions as repetitions,
    coalesce(a.answers, 0) as answers, a.cost_usd, coalesce(a.priced, 0) as priced, a.duration_ms, coalesce(a.timed, 0) as timed
from conditions as c
left join answer as a using (condition_id, agent_id)
where c.current
order by c.place
