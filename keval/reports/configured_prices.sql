-- One row: the prices that the config of the newest run gives itself, as JSON; null if that config has none.
select arg_max({prices: config -> '$.prices'}, rank).prices as prices from run_facts where config is not null
