-- One row per current condition: how often each of its samples is planned to be answered, null where no run says it.
select condition, planned_repetitions as repetitions
from conditions
where current
order by place
