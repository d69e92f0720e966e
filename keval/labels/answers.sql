-- One row per response of these ids: the hash of its answer.
select id, answer_sha256 from facts where type = 'response' and id in ($ids)
