-- One row per condition, agent and run, and models that answered: how many current answers they made.
select condition_id, agent_id, run_id, agent.type as type, agent.model as asked, models, count(*) as answers
from current_lines
where type = 'response'
group by all
