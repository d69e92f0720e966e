-- One row per judge and judge whose scores its metrics are made from, judging: the judge itself or, of a computed metric, each judge of
-- its parts. What judging fails to score, is not for or does not have in its share is said of both.
select judge_id, judge_id as judging from metrics where computed is null
union
select judge_id, of_judge_id from computed_parts
