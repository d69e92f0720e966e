select sample_id, condition, null::double as mean, list(distinct failed) filter (failed is not null) as kinds
        from tasks join conditions using (condition_id, agent_id)
        where current
        group by sample_id, condition
