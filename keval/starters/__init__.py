"""Writes what a new evaluation begins with: a config, questions to replace, and a workflow for a hosted CI."""
