-- One row per current response that called a tool: its file and where its line begins, and the same of the record of its
-- sample that counts: a corrected golden answer counts for what was answered before.
select
    {position: r.position, sample_id: r.sample_id, condition_id: r.condition_id, agent_id: r.agent_id} as ids,
    row(r.file, r.line_offset) as place,
    if(c.file is null, row(r.file, r.line_offset), row(c.file, c.line_offset)) as golden
from facts as r
left join (from newest_samples where corrected) as c using (sample_id)
where r.type = 'response' and r.current and r.calls_tools
