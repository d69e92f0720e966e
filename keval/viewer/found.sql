-- One row per record, answer, message or reasoning that has a text in it: its sample.
select sample_id from samples
where $within and contains(lower(concat_ws(' ', sample_id, sample ->> '$.question', sample ->> '$.answer')), $text)
union all
select sample_id from responses where $within and current and contains(lower(text), $text)
union all
select sample_id from failures where $within and current and contains(lower(message), $text)
union all
select sample_id from scores where $within and current and contains(lower(reasoning), $text)
