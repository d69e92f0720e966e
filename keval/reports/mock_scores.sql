-- One row: whether a stand-in made any of the scores.
select coalesce(bool_or(mock), false) as mock from score_facts where score is not null
