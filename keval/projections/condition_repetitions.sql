-- One row per condition and agent that a newest plan has: how often its questions are to be asked.
select condition_id, agent_id, max(repetitions) as repetitions from planned_conditions group by condition_id, agent_id
