-- One row: the prices that the config of the newest run gives itself, as JSON; null without any.
select arg_max(config -> '$.prices', rank) filter (config is not null) as prices
from run_facts
