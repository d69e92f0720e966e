-- One row per line that has a version beside it, a line of its type and id, or whose id was retracted; few logs have many of them.
-- counts: it is the one that counts: the last one that no later line retracts; but what the mock made takes the place of
-- nothing that is real. repeated: other lines have its type and id.
with several as (
    -- Hashes are looked at first: lines of which no other has the same have no other version, and numbers are quick to group.
    select hash(type, id) as hashed from events group by hashed having count(*) > 1
),
version as (
    select
        type, id, e.position, coalesce(mock, false) as mock, e.position > coalesce(r.position, 0) as stands
    from events as e
    left join retracted as r using (id)
    where hash(type, id) in (from several) or r.id is not null
)
select
    position, id,
    stands and row_number() over (partition by type, id order by stands desc, mock, position desc) = 1 as counts,
    count(*) over (partition by type, id) > 1 as repeated
from version
