-- One row: what the events of a day cost, failed attempts included, and how many attempts of unknown cost there were.
select coalesce(fsum(cost_usd), 0) as usd, count(*) - count(cost_usd) as unknown
from paid_attempts
where left(time, 10) = $today and mock = $mock
