-- One row per response that counts, in the order of the lines.
select position, condition_id, agent_id, sample_id from response_facts where current order by position
