-- One row per judge that judged something and that the newest run of its config, or import of the condition, does not name any
-- more, in the order of the names.
select arg_max(e.judge.name, position) as judge, count(*) as judgments
from events as e
left join judges_of_earlier_imports as i on i.judge_id = e.judge_id and i.condition_id = e.condition_id
where e.type = 'judgment' and position not in (select position from standing where not counts)
    and (e.judge_id in (from replaced_judges) or i.judge_id is not null)
group by e.judge_id
order by judge, e.judge_id
