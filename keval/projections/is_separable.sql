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
    from events as failed
    join events as response on response.id = failed.response_id and response.type = 'response'
    where failed.type = 'failure' and failed.sample_id <> response.sample_id
) and not exists (
    from events as compared
    join events as other on other.id = compared.other_response_id and other.type = 'response'
    where compared.sample_id <> other.sample_id
) and not exists (
    select question_id from events where question_id is not null group by question_id having min(sample_id) <> max(sample_id)
) as is_separable
