-- One row per judge that judges a share of the tasks only, by the newest run that names it: see `in_share`.
select judge_id, sampling.seed as seed, format('{:013x}', floor(sampling.rate * (1::bigint << 52))::bigint) as below
from (
    select judge.judge_id as judge_id, arg_max({newest: judge.sampling}, rank).newest as sampling
    from (select rank, unnest(judges) as judge from run_facts)
    group by judge.judge_id
)
where sampling.rate < 1
