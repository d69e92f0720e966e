-- One row: how many runs stand again after a newer run of a config, retraction or changed sample, which does not come again behind
-- them. They are of a copy of the log that is older, but was given last: what it says takes the place of what was said later. Parts
-- of a log that each begin with the same runs go on behind them.
with newer as (
    select e.position, e.time, {type: e.type, said: coalesce(r.config_name, e.target, e.id)} as said
    from events as e
    left join (select distinct run_id, config_name from run_facts where config_name is not null) as r
        on e.type = 'run' and r.run_id = e.run_id
    where e.type in ('retraction', 'sample_change') or (e.type = 'run' and r.config_name is not null)
),
again as (
    select position, time from events where type = 'run' and position in (from repeated)
)
select count(distinct a.position) as count
from again as a
join newer as n on n.position < a.position and n.time > a.time
where not exists (from newer as m where m.said = n.said and m.position > a.position and m.time > a.time)
