-- What a log holds of a config's tasks: their responses, judgments, and failures of those that have no response, each as far
-- as the stopping rule asks.
with response as (
    $responses
),
failure as (
    $failures
)
select 'response' as type, number, response_id, null as kind, null as judge_id, null as replicate, null as scores
from (select number, e.id as response_id from response join facts as e using (position))
union all
select 'failure', number, response_id, arg_max(kind, position), null, null, null
from failure
where number not in (select number from response)
group by number, response_id
union all
select 'judgment', number, j.response_id, null, j.judge_id, j.replicate,
    map(
        map_keys(j.scores),
        list_transform(map_values(j.scores), lambda given: {score: given.score, outside: given.outside})
    )
from facts as j
join (select number, e.id from response join facts as e using (position)) as r on r.id = j.response_id
where j.type = 'judgment' and j.same_answer and j.same_sample and ($mock or not j.mock)
order by type desc
