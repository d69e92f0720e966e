-- One row per condition and sample that was tried: how its trials went; see trial_verdicts. planned is how many there are to be, done
-- how many there are, both without those that are in the share of no judge; where that is all of them, planned is the number of all.
select
    place, condition, planned_samples, sample_id, is_clustered, cluster,
    count(*) filter (not not_sampled) as done,
    greatest($planned - len(list_filter(any_value(unsampled), lambda repetition: repetition <= $planned)), done) as sampled,
    if(sampled > 0, sampled, $planned) as planned,
    sampled > 0 as is_sampled,
    bool_or(is_outside) as is_outside,
    count(*) filter (passed) as passes,
    count(*) filter (not passed) as failures,
    coalesce(list(distinct why order by why) filter (passed is null and not not_sampled), []) as reasons,
    1 as samples
from ($trials)
group by condition, planned_samples, place, sample_id, is_clustered, cluster
