"""Says what a difference cost: money and time per answer beside what was gained."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from keval.readable import dollars, duration, number
from keval.reports.model import ConditionSummary, Report
from keval.reports.sentences import metric_name

LEAST_TIMES = 0.05
"""So many times and more are said; less would be 0.0 times."""


def costs(report: Report) -> Iterator[str]:
    """Yield a sentence for each condition that is compared and whose cost or time per answer is known."""
    by_name = {found.name: found for found in report.conditions}
    for headline in report.headlines:
        condition, baseline = by_name.get(headline.condition), by_name.get(headline.baseline)
        if condition is None or baseline is None:
            continue
        paid = list(_paid(condition, baseline))
        gained = [
            f"{number(each.difference, '+')} {metric_name(table, report.metrics)} ({each.conclusion})"
            for table in report.metrics
            for each in table.differences
            if (each.condition, each.baseline) == (headline.condition, headline.baseline)
            and each.difference is not None
        ]
        if paid and gained:
            yield f"{condition.name} beside {baseline.name}: {', '.join(gained)}, for {' and '.join(paid)} per answer."


def _paid(condition: ConditionSummary, baseline: ConditionSummary) -> Iterator[str]:
    money = condition.agent_cost_per_answer_usd, baseline.agent_cost_per_answer_usd
    yield from _more(*money, dollars, "cost")
    yield from _more(condition.median_duration_ms, baseline.median_duration_ms, duration, "median time")


def _more(one: float | None, other: float | None, show: Callable[[float], str], what: str) -> Iterator[str]:
    """Yield how much more one is than another, or less; nothing where one is not known."""
    if one is None or other is None:
        return
    if one == other:
        yield f"the same {what}"
    else:
        times = f" ({one / other:.1f} times the {what})" if other > 0 and one / other >= LEAST_TIMES else ""
        yield f"{'-' if one < other else '+'}{show(abs(one - other))}{times}"
