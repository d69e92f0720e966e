-- One row per condition, judge, metric and sample: people's score of the answers that were drawn at random for them, and the
-- judge's of the same answers (both null: none was drawn); and the judge's score of all answers to the sample. Scores of
-- several people, replicates and answers are averaged. cluster: what the sample has in common with those that belong to it. A person's score
-- counts for the judge that it was given for, if it is on that judge's scale.
with answer as (
    select
        c.place as condition_place, c.condition, m.place, m.judge, m.min, m.max, s.judge_id, s.metric, s.condition_id, s.agent_id,
        s.sample_id, s.response_id, c.has_clusters, if(c.has_clusters, n.cluster, null) as cluster, avg(s.score) as score
    from score_facts as s
    join conditions as c using (condition_id, agent_id)
    join metrics as m using (judge_id, metric)
    left join newest_samples as n using (sample_id)
    where s.score is not null and c.current
    group by all
),
scored as (
    select a.*, (
        select avg(p.score) from session.people_scores as p
        where p.random and p.response_id = a.response_id and p.metric = a.metric
            and coalesce(p.judge_id = a.judge_id, true) and p.score between a.min and a.max
    ) as people
    from answer as a
)
select
    condition_place, place, has_clusters, any_value(cluster) as cluster, any_value(condition) as condition, any_value(judge) as judge, judge_id, metric, sample_id,
    any_value(min) as min, any_value(max) as max,
    avg(people) as people, avg(score) filter (people is not null) as judge_of_labelled, avg(score) as judge_of_all
from scored
group by condition_place, place, has_clusters, judge_id, metric, sample_id
order by condition_place, place, sample_id
