-- One row per retraction that still takes an event back, in the log's order: of which type that is, and where the
-- retraction's own line lies, which says why.
with retraction as (
    select id as target, position from retracted
),
taken_back as (
    select id, arg_max(type, position) as type, max(position) as position
    from events
    where id in (select target from retraction)
    group by id
)
select taken_back.type, line.file, line.line_offset
from retraction
join taken_back on taken_back.id = retraction.target and taken_back.position < retraction.position
join (select position, file, line_offset from events join line_offsets using (position)) as line
    on line.position = retraction.position
order by line.position
