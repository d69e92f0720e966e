-- One row per judge of single responses and replicate that has something to do: which responses it has not judged, as a
-- string with a bit for each line of the log. A join of millions of rows would take far more memory.
with answered as (
    select judge_id, replicate, bitstring_agg(answer, 1, $lines) as answers
    from ($judgments)
    where same_answer and same_sample and other is null and answer is not null
    group by judge_id, replicate
),
wanted as (
    select bitstring_agg(position, 1, $lines) as responses from ($responses)
)
select place, replicate, left_to_do
from (
    select j.place, j.replicate, if(a.answers is null, w.responses, w.responses & ~a.answers) as left_to_do
    from (
        select place, judge_id, unnest(range(1, replicates + 1)) as replicate from judging where not of_pairs
    ) as j
    cross join wanted as w
    left join answered as a using (judge_id, replicate)
)
where bit_count(left_to_do) > 0
