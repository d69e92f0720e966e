-- No query but a function: the mean of a sample's values if all that could be one and is none had scored `missing`, of the columns
-- of `sample_means`; null if nothing of it counts (Manski 2003).
create or replace macro session.mean_if(total, counting, valued, missing) as
    (coalesce(total, 0) + (counting - valued) * missing) / nullif(counting, 0)
