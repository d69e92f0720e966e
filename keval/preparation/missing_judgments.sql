-- One row per judgment that is missing, of the judges of single responses: the position of its response, the judge's place,
-- the replicate, and null. Of a share of the samples for which a judge is, see `keval/sampling.py`.
select e.position, u.place, u.replicate, null::bigint as other_position
from (select position, repetition, sample_id from events where type = 'response') as e
join unjudged_responses as u on get_bit(u.left_to_do, (e.position - 1)::integer) = 1
join judging as j on j.place = u.place
where session.in_share(j.seed, j.below, e.repetition, e.sample_id)
