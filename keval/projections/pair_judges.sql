-- One row per judge that compares two answers, by what a run says of it: the type of ours, or the unit of one from elsewhere.
select distinct judge.judge_id as judge_id
from (select unnest(judges) as judge from run_facts)
where judge.type = 'pairwise' or judge.unit is not null
