-- One row per judge that a run of a config names; of others `keval judge` was told apart.
select distinct judge.judge_id
from (select unnest(judges) as judge from run_facts where has_config)
