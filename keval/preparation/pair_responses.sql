-- The responses of a config's conditions and agent that count, and with $everything those that answer a current question; what
-- the mock made counts to a mock run only.
select position from facts
where type = 'response' and asked and (planned or $everything) and ($mock or not mock) and agent_id = $agent_id and list_contains($condition_ids, condition_id)
