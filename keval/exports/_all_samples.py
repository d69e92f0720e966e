"""Lays out the means of single samples: what the dots of the plots are."""

from __future__ import annotations

from keval.exports._blocks import Cell, Lines, Section, Table
from keval.exports._words import count, number
from keval.reports.conclusions import MetricTable
from keval.reports.details import Details
from keval.reports.model import Report
from keval.reports.sentences import metric_name

MOST_SAMPLES = 200
"""Rows of the table; which they are is said below it."""

Key = tuple[str, str, str, str]


def all_samples(report: Report) -> Section | None:
    """Show the mean of each sample under each condition, those first that got worst against the baseline."""
    if report.details is None or not report.details.conditions:
        return None
    means = {
        (each.judge_id, each.metric, each.condition_id, each.agent_id): dict(each.means)
        for each in report.details.conditions
    }
    columns: list[tuple[str, Key]] = [
        (f"{metric_name(table.metric, table.judge, report.metrics)}, {score.condition}", key)
        for table in report.metrics
        for score in table.scores
        if (key := (table.judge_id, table.metric, score.condition_id, score.agent_id)) in means
    ]
    ids = _worst_first(report.metrics, report.details, {name: None for _, key in columns for name in means[key]})
    rows: list[tuple[Cell, ...]] = [
        (sample_id, *(number(means[key].get(sample_id)) for _, key in columns)) for sample_id in ids[:MOST_SAMPLES]
    ]
    drawn = Table(("sample", *(heading for heading, _ in columns)), tuple(rows), by_condition=True)
    if len(ids) <= MOST_SAMPLES:
        return Section(f"All samples ({count(len(ids))})", (drawn,))
    left = f'The other {count(len(ids) - MOST_SAMPLES)} are left out: keval sql LOG "FROM sample_scores"'
    return Section(f"{count(MOST_SAMPLES)} of {count(len(ids))} samples", (drawn, Lines(((left,),))))


def _worst_first(tables: tuple[MetricTable, ...], details: Details, ids: dict[str, None]) -> list[str]:
    """Return the samples by their lowest difference, as a share of the metric's scale; then those without one."""
    scales = {(table.judge_id, table.metric): table.max - table.min for table in tables}
    lowest: dict[str, float] = {}
    for found in details.differences:
        scale = scales.get((found.judge_id, found.metric)) or 1.0
        for sample_id, difference in found.differences:
            lowest[sample_id] = min(difference / scale, lowest.get(sample_id, float("inf")))
    return sorted(ids, key=lambda name: (lowest.get(name, float("inf")), name))
