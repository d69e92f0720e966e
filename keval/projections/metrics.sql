-- One row per judge and metric, with the metric's scale, from run_facts and, for judges that no run names, from their judgments;
-- then those that are computed from these: computed is the type of formula, and null for what a judge scored.
-- place: judges in the order in which runs named them, then those that no run names, by name; metrics in the judge's
-- order.
with named as (
    select judge.judge_id as judge_id, judge.name as judge, judge.metrics as metrics, position, judge_place
    from (
        select position, unnest(judges) as judge, generate_subscripts(judges, 1) as judge_place from run_facts
    )
),
mentioned as (
    select judge_id, judge, metric.name as metric, metric.min as min, metric.max as max, position, judge_place, place,
        position as named_at
    from (
        select * exclude (metrics), unnest(metrics) as metric, generate_subscripts(metrics, 1) as place from named
    )
    union all by name
    select judge_id, metric,
        arg_max(judge, position) as judge, arg_max(given.min, position) as min, arg_max(given.max, position) as max,
        min(position) as position, min(place) as place
    from (
        select judge_id, judge.name as judge, position, generate_subscripts(map_keys(scores), 1) as place,
            unnest(map_keys(scores)) as metric, unnest(map_values(scores)) as given
        from latest
        semi join (from mentions anti join named using (judge_id)) using (judge_id)
        semi join judgment_standings using (position)
        where type = 'judgment'
    )
    group by judge_id, metric
),
judge as (
    select judge_id, min(named_at) as named_at, arg_min(judge_place, position) as judge_place
    from mentioned
    group by judge_id
),
scale as (
    select
        judge_id, metric,
        arg_max(judge, position) as judge,
        arg_max(min, position) as lowest,
        arg_max(max, position) as highest,
        arg_max(place, position) as metric_place
    from mentioned
    where judge_id not in (from replaced_judges)
    group by judge_id, metric
)
select
    scale.judge, judge_id, metric, lowest as min, highest as max,
    row_number() over (
        order by named_at nulls last, judge_place, scale.judge, judge_id, metric_place, metric
    ) as place,
    null::varchar as computed
from scale
join judge using (judge_id)
union all
select 'computed', judge_id, metric, min, max, (select count(*) from scale) + sequence, computed
from computed_metrics
