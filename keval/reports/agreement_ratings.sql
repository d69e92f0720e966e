-- One row per rating of the series that are compared: of replicates each response with all its judgments, else each pair.
select series, response_id as unit, replicate::varchar as rater, score as value, span
from session.compared_series as c
join score_facts as s on s.judge_id = c.first_id and s.metric = c.metric
join conditions using (condition_id, agent_id)
where c.kind = 'replicates' and s.score is not null and s.is_asked and conditions.current
union all
select series, pair::varchar, side, value, span
from (select series, pair, span, unnest(['a', 'b']) as side, unnest([a, b]) as value from session.compared_pairs)
join (select series, kind from session.compared_series) as c using (series)
where c.kind <> 'replicates'
