-- The judgments of judgments_there where records are about to change: those are changed.
select j.* replace (coalesce(c.same_sample, j.same_sample) as same_sample)
from ($judgments) as j
left join ($changing) as c using (position)
