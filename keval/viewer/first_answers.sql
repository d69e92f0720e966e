-- One row per sample of a page with an answer under a condition: the first one.
select sample_id, left(arg_min(text, {repetition: repetition, position: position}), $most) as text
from responses
where current and condition = $condition and sample_id in $within
group by sample_id
