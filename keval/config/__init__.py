"""What the user wrote: the dataset, the agent, the conditions, the judges, and how the work is done."""
