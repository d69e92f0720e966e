"""How a metric is named, in a config, a rule, an option and a message: METRIC, JUDGE/METRIC or JUDGE_ID/METRIC.

A `.` may be part of a name of a judge; `/` is not, so the first `/` ends it.
"""

from __future__ import annotations


def full_name(judge: str, metric: str) -> str:
    """Return the name that messages print. A judge's id in the place of its name makes the exact one."""
    return f"{judge}/{metric}"


def names(metric: str, *judge: str) -> tuple[str, ...]:
    """Return by what a user may name a metric, given its judge's name and perhaps id; the most exact last."""
    return metric, *(full_name(each, metric) for each in judge)
