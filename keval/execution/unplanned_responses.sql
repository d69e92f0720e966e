-- The responses that answer a current question and are not in the newest plans.
select position from facts where type = 'response' and asked and not planned
