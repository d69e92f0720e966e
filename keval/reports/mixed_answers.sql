-- One row per agent, thing that made its answers, value of that and condition: how many answers that count it made; only
-- where an agent's answers have more than one value. Their ids are equal all the same: see decision 73.
-- What is not known is not taken for different. Conditions of an import may be models: there each stands for itself.
with run as (
    select run_id, arg_max(environment ->> '$.claude_code', position) as claude_code from run_facts group by run_id
),
made as (
    select
        condition_id, agent_id, type, answers,
        -- Beside the model that it is asked to use, an agent may ask smaller ones for small things, now and then.
        list_sort(coalesce(nullif(list_filter(models, lambda model: contains(model, asked)), []), models)) as models,
        if(type = 'claude', claude_code, null) as claude_code
    from answering_models
    left join run using (run_id)
),
told as (
    select condition_id, agent_id, type, 'model' as what, array_to_string(models, ' and ') as value, answers from made
    where len(models) > 0
    union all
    select condition_id, agent_id, type, 'claude-code', claude_code, answers from made
    where claude_code is not null
)
select
    agent_id, what, value, c.condition, sum(answers)::bigint as answers,
    if(type = 'imported', condition_id, null) as by_itself
from told
join conditions as c using (condition_id, agent_id)
group by agent_id, what, value, c.condition, c.place, by_itself
qualify min(value) over (partition by agent_id, by_itself, what) <> max(value) over (partition by agent_id, by_itself, what)
order by agent_id, what desc, c.place, value
