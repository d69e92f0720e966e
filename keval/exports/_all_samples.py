"""Lays out the means of single samples: what the dots of the plots are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from math import inf

from keval.exports._blocks import Cell, Lines, Section, Table
from keval.readable import count, number
from keval.reports.conclusions import MetricTable
from keval.reports.details import Details
from keval.reports.model import Report
from keval.reports.sentences import metric_name

MOST_SAMPLES = 200
"""Rows of the table; which they are is said below it."""


@dataclass(frozen=True, slots=True)
class GridColumn:
    """The samples' means by one metric under one condition."""

    table: MetricTable
    metric: str
    """The metric's name in the report."""
    condition: str
    means: Mapping[str, float]
    """By sample; one that was not measured is not there."""
    failed: frozenset[str]
    """The samples of which the agent failed an answer, which counts in the mean as the worst score."""


@dataclass(frozen=True, slots=True)
class SampleGrid:
    """Samples by conditions."""

    columns: tuple[GridColumn, ...]
    samples: tuple[str, ...]
    """Those first that got worst against the baseline; `MOST_SAMPLES` at most."""
    left_out: int
    """How many others there are."""


def sample_grid(report: Report) -> SampleGrid | None:
    """Return the mean of each sample under each condition; None where no sample has one."""
    if report.details is None or not report.details.conditions:
        return None
    found = {(each.judge_id, each.metric, each.condition_id, each.agent_id): each for each in report.details.conditions}
    columns = tuple(
        GridColumn(
            table,
            metric_name(table.metric, table.judge, report.metrics),
            score.condition,
            dict(samples.means) if samples else {},
            frozenset(samples.failed if samples else ()),
        )
        for table in report.metrics
        for score in table.scores
        for samples in [found.get((table.judge_id, table.metric, score.condition_id, score.agent_id))]
    )
    ids = {sample_id for column in columns for sample_id in column.means}
    shown = _worst_first(report.metrics, report.details, ids)
    return SampleGrid(columns, tuple(shown), len(ids) - len(shown))


def all_samples(report: Report) -> Section | None:
    """Show the mean of each sample under each condition, those first that got worst against the baseline."""
    grid = sample_grid(report)
    if grid is None:
        return None
    rows: list[tuple[Cell, ...]] = [
        (sample_id, *(number(column.means.get(sample_id)) for column in grid.columns)) for sample_id in grid.samples
    ]
    headings = (f"{column.metric}, {column.condition}" for column in grid.columns)
    drawn = Table(("sample", *headings), tuple(rows), by_condition=True)
    if not grid.left_out:
        return Section(f"All samples ({count(len(grid.samples))})", (drawn,))
    left = f'The other {count(grid.left_out)} are left out: keval sql LOG "FROM sample_scores"'
    return Section(
        f"{count(MOST_SAMPLES)} of {count(MOST_SAMPLES + grid.left_out)} samples", (drawn, Lines(((left,),)))
    )


def _worst_first(tables: tuple[MetricTable, ...], details: Details, ids: set[str]) -> list[str]:
    """Return `MOST_SAMPLES` at most, by their lowest difference as a share of the scale; then those without."""
    scales = {(table.judge_id, table.metric): table.max - table.min for table in tables}
    lowest: dict[str, float] = {}
    for found in details.differences:
        scale = scales.get((found.judge_id, found.metric)) or 1.0
        # A sample behind so many that got worse by the same numbers is not among the worst of all.
        for sample_id, difference in islice((each for each in found.differences if each[0] in ids), MOST_SAMPLES):
            lowest[sample_id] = min(difference / scale, lowest.get(sample_id, inf))
    worst = nsmallest(MOST_SAMPLES, lowest, key=lambda name: (lowest[name], name))
    return worst + nsmallest(MOST_SAMPLES - len(worst), ids.difference(worst))
