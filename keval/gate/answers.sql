-- One row per current condition and agent, in the config's order: its answers, how many of them were paid for, what one of these
-- costs on the mean, of how many that is known, and within how many milliseconds the given share of those came whose time is
-- known. A mock's answers count as paid for only where all are a mock's.
with answer as (
    select condition_id, agent_id, cost_usd, duration_ms, position in (select position from standing where mock) as is_mock
    from current_lines
    where type = 'response'
),
numbers as (
    select
        condition_id, agent_id, count(*) as answers,
        if(bool_and(is_mock), count(*), count(*) filter (not is_mock)) as paid,
        if(bool_and(is_mock), favg(cost_usd), favg(cost_usd) filter (not is_mock)) as cost_usd,
        if(bool_and(is_mock), count(cost_usd), count(cost_usd) filter (not is_mock)) as priced,
        quantile_cont(duration_ms, $share) as duration_ms,
        count(duration_ms) as timed
    from answer
    group by condition_id, agent_id
)
select
    c.condition, c.condition_id, c.agent_id, c.planned, c.planned_repetitions as repetitions,
    coalesce(n.answers, 0) as answers, coalesce(n.paid, 0) as paid, n.cost_usd, coalesce(n.priced, 0) as priced,
    n.duration_ms, coalesce(n.timed, 0) as timed
from conditions as c
left join numbers as n using (condition_id, agent_id)
where c.current
order by c.place
