-- One row per sample that a new line is about.
select distinct sample_id from rest.lines where sample_id is not null
