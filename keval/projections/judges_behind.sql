-- One row per judge of metrics and judge from whose scores they are made, `judging`: itself, or, of what is computed, any of those that
-- it is computed from. What `judging` fails to score, is not for, or does not have in its share is said of both.
select distinct judge_id, judge_id as judging from metrics where computed is null
union
select judge_id, of_judge_id from computed_parts
