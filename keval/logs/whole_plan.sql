-- A row if the log holds every part of a plan.
select plan_id from whole_plans where plan_id = $plan_id
