"""Brings saved answers of other tools and scripts into a log: what is missing is written, and nothing twice."""
