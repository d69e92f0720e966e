-- One row per response whose text changed in the course of the log, with the position at which the text
-- became what it is now. A judgment from before that judged another answer. What a mock answers changes nothing real.
select id as response_id, max(position) as position
from (
    select id, position, answer_sha256 <> lag(answer_sha256) over (partition by id order by position) as changed
    from (
        select *, coalesce(mock, false) as is_mock, bool_and(coalesce(mock, false)) over (partition by id) as are_all_mock
        from events
        where type = 'response' and id in (select id from event_versions where repeated)
    )
    where are_all_mock or not is_mock
)
where changed
group by id
