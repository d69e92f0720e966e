-- No query but what follows the CTE `chosen`, of chosen tasks: one row per line that tells of them, in the order in which a
-- person reads them: the newest record of the sample, or that which a failure brings if it is newer; the answer or failure; what
-- judges said of that answer to that record, where they failed, and what people said. response_id is that of the answer, or that
-- it would have.
told as (
    select place, 1 as part, 'sample' as kind, record.*, '' as judge_name
    from (
        select
            place,
            if(asks_anew and chosen.position > n.position, {file: chosen.file, line_offset: chosen.line_offset, position: chosen.position},
                {file: n.file, line_offset: n.line_offset, position: n.position}) as record
        from chosen join $newest as n using (sample_id)
    )
    union all
    select place, 2, type, file, line_offset, position, ''
    from chosen where type <> 'judgment'
    union all
    select place, 3, 'judgment', j.file, j.line_offset, j.position, j.judge.name
    from chosen join $judgments as j on j.response_id = chosen.response_id
    where j.same_answer and j.same_sample and (j.current or not chosen.current)
    union all
    select place, 4, 'judge_failure', f.file, f.line_offset, f.position, f.judge.name
    from chosen join $failures as f on f.response_id = chosen.response_id
    where f.stage = 'judge' and (f.current or not chosen.current)
    union all
    select place, 5, 'label', l.file, l.line_offset, l.position, ''
    from chosen join label_facts as l on l.response_id = chosen.response_id
    where l.current
)
select told.*, chosen.condition, chosen.response_id
from told
join chosen using (place)
order by place, part, judge_name, position
