-- The responses that count: what the newest plans ask for, or all that answers a current question.
select id from response_facts where current
