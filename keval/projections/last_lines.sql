-- One row per type and id: the position of the line that counts, null if all were retracted by a later line. It is the last
-- one; but what the mock made takes the place of nothing that is real.
-- mock: a stand-in made it, by its own account. repeated: the id, if several lines have it.
with last as (
    select
        known.id,
        -- What is real ranks above all that a mock made; a position has fewer than 40 bits.
        max(if(coalesce(mock, false), 0, 1::bigint << 40) + known.position)
            filter (known.position > coalesce(r.position, 0)) as ranked,
        count(*) as lines
    from events as known
    left join retracted as r on r.id = known.id
    group by known.type, known.id
)
select
    ranked % (1::bigint << 40) as position,
    ranked < (1::bigint << 40) as mock,
    if(lines > 1, id, null) as repeated
from last
