-- Those of the responses that the user chose by sample, condition and part.
select position from ($responses)
where position in (
    select f.position
    from facts as f
    where f.type = 'response'
        and ('0x' || substr(sha256(f.sample_id), 1, 15))::bigint % $shards = $shard
        and (len($samples) = 0 or exists (
            select 1 from unnest($samples) as given(name) where f.sample_id = name or f.sample_id glob name
        ))
        and (len($conditions) = 0 or exists (
            select 1 from unnest($conditions) as given(name) where f.condition = name or f.condition glob name
        ))
)
