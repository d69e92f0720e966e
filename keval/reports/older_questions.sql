-- One row: how many responses answer an older version of their question.
select count(*) as count from response_facts where not asked
