-- One row: how many responses answer a current question and are left out, because the newest plan does not have them.
select coalesce(sum(responses), 0)::bigint as count from left_out
