-- No query but a condition: whether a metric `m` has one of some names, or whether none is given.
(len($metrics) = 0 or list_has_any([m.metric, m.judge || '/' || m.metric, m.judge_id || '/' || m.metric], $metrics))
