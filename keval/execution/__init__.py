"""Leads a command through its work: hands items to an executor, holds the budget, records what came of each."""
