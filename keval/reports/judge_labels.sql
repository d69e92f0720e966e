-- One row per judge: how many labels there are of what it says now, the last one's time, and how many of what it, or an earlier
-- version of the judge of that name, said before. A judge of another id is another version.
with label as (
    select judge_id, count(*) filter (current) as labels, max(time) filter (current) as last, count(*) as given
    from label_facts
    where judge_id is not null
    group by judge_id
),
shown as (select distinct judge, judge_id from metrics where computed is null),
version as (
    from shown
    union
    select judge.name, judge.judge_id from (select unnest(judges) as judge from run_facts)
)
select
    v.judge_id, coalesce(l.labels, 0) as labels, l.last,
    coalesce(l.given - l.labels, 0) as of_older_judgments,
    coalesce((
        select sum(given) from label as o join version as e using (judge_id)
        where e.judge = v.judge and o.judge_id <> v.judge_id
    ), 0)::bigint as of_other_versions
from shown as v
left join label as l using (judge_id)
