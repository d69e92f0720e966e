-- Those of the responses that the user chose by sample, condition (by its newest name) and part.
select position from ($responses)
where position in (
    select f.position
    from facts as f
    left join (
        select condition_id, arg_max(condition, rank) as condition from config_conditions group by condition_id
    ) as c using (condition_id)
    where f.type = 'response'
        and ('0x' || substr(sha256(f.sample_id), 1, 15))::bigint % $shards = $shard
        and (len($samples) = 0 or f.sample_id in $samples or regexp_full_match(f.sample_id, $sample_patterns))
        and (len($conditions) = 0 or coalesce(c.condition, f.condition) in $conditions
            or regexp_full_match(coalesce(c.condition, f.condition), $condition_patterns))
)
