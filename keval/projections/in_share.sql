-- No query but a function: whether a judge judges a task. It does if the draw of the task, the first 13 hex digits of a hash,
-- is below `below`, which is null for a judge of all tasks; see `sampling`. keval/sampling.py draws the same.
create or replace macro session.in_share(seed, below, repetition, sample_id) as
    below is null or coalesce(substr(sha256(seed || ' ' || repetition || ' ' || sample_id), 1, 13) < below, true)
