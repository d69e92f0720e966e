-- One row: whether some of the responses are real, and whether some are the mock's.
select coalesce(bool_or(not mock), false) as has_real, coalesce(bool_or(mock), false) as has_mock
from facts
where position in (from ($responses))
