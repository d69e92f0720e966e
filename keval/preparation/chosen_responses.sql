-- Those of the responses that the user chose by sample, condition and part.
select position from ($responses)
where position in (
    select f.position
    from facts as f
    where f.type = 'response'
        and ('0x' || substr(sha256(f.sample_id), 1, 15))::bigint % $shards = $shard
        and (len($samples) = 0 or f.sample_id in $samples or regexp_full_match(f.sample_id, $sample_patterns))
        and (len($conditions) = 0 or f.condition in $conditions or regexp_full_match(f.condition, $condition_patterns))
)
