-- One row per set of logs: whether each id, each response with its judgments and those that compare it, and each question belong to one sample. Then
-- what becomes of a sample's events can be told from them alone, and from what runs plan.
select not exists (
    select id
    from events
    where id in (select id from event_versions where repeated)
    group by type, id
    having min(sample_id) <> max(sample_id)
) and not exists (from judgment_standings where strays)
and not exists (
    from events as response
    join events as failed on failed.response_id = response.id and failed.type = 'failure'
    where response.type = 'response' and failed.sample_id <> response.sample_id
) and not exists (
    from events as other
    join (from events where other_response_id is not null) as compared on compared.other_response_id = other.id
    where other.type = 'response' and compared.sample_id <> other.sample_id
) and not exists (
    select question_id from events where question_id is not null group by question_id having min(sample_id) <> max(sample_id)
) as is_separable
