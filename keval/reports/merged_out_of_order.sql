-- One row: how many runs stand again after a newer run of their config, retraction or changed sample; 0 where each of these comes
-- again behind them. They are of a copy of the log that is older, but was given last: what it says takes the place of what was said
-- later. Parts of a log that each begin with the same runs go on behind them.
with config as (
    select distinct run_id, config_name from run_facts where config_name is not null
),
newer as (
    select e.position, e.time, r.config_name, {type: e.type, said: coalesce(r.config_name, e.target, e.id)} as said
    from events as e
    left join config as r on e.type = 'run' and r.run_id = e.run_id
    where e.type in ('retraction', 'sample_change') or r.config_name is not null
),
again as (
    select e.position, e.time, r.config_name
    from events as e
    left join config as r using (run_id)
    where e.type = 'run' and e.position in (from repeated)
),
replaced as (
    select a.position, exists (from newer as m where m.said = n.said and m.position > a.position and m.time > a.time) as comes_again
    from again as a
    join newer as n
        on n.position < a.position and n.time > a.time and (n.config_name is null or n.config_name = a.config_name)
)
select if(bool_and(comes_again), 0, count(distinct position)) as count from replaced
