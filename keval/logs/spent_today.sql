-- One row: what the events of a day cost, failed attempts included, and how many attempts of unknown cost there were. What
-- was imported was paid for elsewhere.
select coalesce(fsum(cost_usd), 0) as usd, count(*) - count(cost_usd) as unknown
from paid_attempts
where left(time, 10) = $today and mock = $mock
    and run_id not in (select run_id from events join declarations using (position) where command = 'import')
