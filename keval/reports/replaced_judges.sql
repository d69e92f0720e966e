-- One row per judge that judged something and that the newest run of its config does not name any more, in the order of the names.
select arg_max(judge.name, position) as judge, count(*) as judgments
from events
semi join replaced_judges using (judge_id)
where type = 'judgment' and position not in (select position from standing where not counts)
group by judge_id
order by judge, judge_id
