-- One row per judge of the newest config that asks no model and has answers to judge, and that has neither judged nor failed to
-- judge any answer that counts, nor has another version of it: whether an answer passes may be for it to say.
with newest as (
    select unnest(judges) as judge
    from (select judges from run_facts where has_config and command <> 'import' order by rank desc limit 1)
),
current as (
    select judge_id, state, n_judgments from outcomes join conditions as c on c.place = condition_place where c.current
)
select judge.name as judge
from newest
where judge.model is null and coalesce(len(judge.models), 0) = 0
    and judge.judge_id in (select judge_id from current where state = 'not_done')
    and judge.name not in (
        select name from current_judges semi join (from current where n_judgments > 0 or state = 'not_measured') using (judge_id)
    )
order by judge
