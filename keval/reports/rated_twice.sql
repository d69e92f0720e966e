-- One row per pair of ratings of the same answer by the same metric and scale: of two judges (the same replicate of each),
-- of two replicates of one judge, of a judge and a person, or of two people. Of two judges of pairs both compare it with the same.
-- a is the score of the first, b that of the second. A person's score by a metric is compared with each judge that has a
-- metric of that name and scale, whichever judge it was given for; one that was given for that judge goes before others.
with score as (
    select
        s.judge_id, m.judge, s.metric, m.min, m.max, m.place, s.sample_id, s.response_id, s.replicate, s.position,
        s.other_response_id as other,
        s.score as value
    from score_facts as s
    join conditions as c using (condition_id, agent_id)
    join metrics as m using (judge_id, metric)
    where s.score is not null and s.is_asked and c.current
),
person as (
    select p.*, m.min, m.max
    from session.people_scores as p
    left join metrics as m using (judge_id, metric)
),
by_person as (
    select s.*, p.labeler, p.score, p.random
    from score as s
    join person as p using (response_id, metric)
    where coalesce(p.min = s.min and p.max = s.max, p.judge_id is null) and p.score between s.min and s.max
    qualify row_number() over (
        partition by s.position, s.metric, p.labeler
        order by coalesce(p.judge_id = s.judge_id, false) desc, p.position desc
    ) = 1
),
scale as (select metric, judge_id, min, max, place from metrics where computed is null),
of_people as (
    select p.*, s.place, s.min as lowest, s.max as highest
    from person as p
    join scale as s on s.metric = p.metric and s.judge_id = coalesce(p.judge_id, s.judge_id)
    where p.score between s.min and s.max
    qualify row_number() over (partition by p.labeler, p.response_id, p.metric order by p.position desc, s.place) = 1
)
select
    'judges' as kind, a.judge_id as first_id, b.judge_id as second_id, a.judge as first, b.judge as second,
    a.metric, a.min, a.max, a.place, b.place as second_place, a.sample_id, a.response_id, a.value as a, b.value as b,
    null as random
from score as a
join score as b using (response_id, metric, replicate, min, max)
where a.place < b.place and a.other is not distinct from b.other
union all
select
    'replicates', a.judge_id, a.judge_id, a.judge, a.judge,
    a.metric, a.min, a.max, a.place, a.place, a.sample_id, a.response_id, a.value, b.value, null
from score as a
join score as b using (response_id, metric, judge_id)
where a.replicate < b.replicate
union all
select
    'labels', judge_id, null, judge, 'labels',
    metric, min, max, place, place, sample_id, response_id, value, score, random
from by_person
union all
select
    'people', a.labeler, b.labeler, a.labeler, b.labeler,
    a.metric, a.lowest, a.highest, a.place, a.place, a.sample_id, a.response_id, a.score, b.score, a.random and b.random
from of_people as a
join of_people as b using (response_id, metric, lowest, highest)
where a.labeler < b.labeler
