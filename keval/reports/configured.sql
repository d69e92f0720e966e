-- One row per run, the newest first: its conditions and judges in the config's order.
select map_keys(conditions) as names, [judge.judge_id for judge in judges] as judge_ids
from run_facts
order by rank desc
