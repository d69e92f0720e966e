-- One row per aggregate of level sample, in the order of the config's conditions, then of judges, their metrics and samples:
-- q2 comes before q10.
select 'sample' as level, *, if(mean is null, 0, 1) as n_samples
from sample_scores
order by
    condition_place, metric_place,
    list_transform(
        regexp_extract_all(sample_id, '[0-9]+|[^0-9]+'),
        lambda part: if(part[1] between '0' and '9', lpad(ltrim(part, '0'), greatest(len(part), 20)::integer, '0'), part)
    ),
    sample_id
