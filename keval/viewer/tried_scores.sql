select sample_id, condition, mean, kinds
        from sample_scores
        where current and judge_id = $judge and metric = $metric
