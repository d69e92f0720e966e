-- One row per judgment about a sample whose record the command is about to change: whether it was given what it would be
-- given of the new record. It was, if it was given that record, or none of the fields that become others.
select
    e.position,
    e.sample_sha256 = c.sample_sha256
        or (e.same_sample and not list_has_any(coalesce(e.sample_fields, c.changed), c.changed)) as same_sample
from sample_changing as c
join facts as answered on answered.question_id = c.question_id and answered.type = 'response'
join facts as e on e.response_id = answered.id and e.type = 'judgment'
