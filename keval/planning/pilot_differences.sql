-- One row per current comparison: the differences of its samples, the length of its scale, and why no stopping rule can be true of
-- it, as `keval run` would say: null for one that a run may stop at.
select
    p.condition, p.baseline, p.judge_id, p.metric, any_value(m.max - m.min) as reach,
    list(p.difference order by p.sample_id) as differences,
    case
        when any_value(m.computed) is not null then 'it is computed from other scores'
        when p.judge_id in (select judge_id from judge_baselines where of_pairs) then 'its judge compares two answers when all are there'
        when any_value(c.has_clusters) then 'the dataset has a cluster_key, and then the unit would be the cluster'
        when any_value(c.failures) = 'exclude' then 'failures are excluded, so that what is missing would depend on the outcome'
    end as why_not
from paired_samples as p
join metrics as m on m.judge_id = p.judge_id and m.metric = p.metric
join conditions as c on c.condition_id = p.condition_id and c.agent_id = p.agent_id
where p.difference is not null
group by p.condition, p.baseline, p.judge_id, p.metric
