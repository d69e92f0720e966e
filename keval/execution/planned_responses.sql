-- The responses that count: what the newest plans ask for, or all that answers a current question.
select position from facts where type = 'response' and asked and (planned or $everything)
