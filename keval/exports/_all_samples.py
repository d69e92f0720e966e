"""Lays out the means of single samples: what the dots of the plots are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keval.exports._blocks import Cell, Lines, Section, Table
from keval.readable import count, number
from keval.reports.metric_tables import MetricTable
from keval.reports.model import Report
from keval.reports.sentences import metric_name


@dataclass(frozen=True, slots=True)
class GridColumn:
    """The samples' means by one metric under one condition."""

    table: MetricTable
    metric: str
    """The metric's name in the report."""
    condition: str
    means: Mapping[str, float]
    """By sample, of those that are shown; one that was not measured is not there."""
    failed: frozenset[str]
    """The samples of which the agent failed an answer, which counts in the mean as the worst score."""


@dataclass(frozen=True, slots=True)
class SampleGrid:
    """Samples by conditions."""

    columns: tuple[GridColumn, ...]
    samples: tuple[str, ...]
    """Those first that got worst against the baseline."""
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
            metric_name(table, report.metrics),
            score.condition,
            dict(samples.means.named) if samples else {},
            frozenset(samples.failed if samples else ()),
        )
        for table in report.metrics
        for score in table.scores
        for samples in [found.get((table.judge_id, table.metric, score.condition_id, score.agent_id))]
    )
    return SampleGrid(columns, report.details.samples, report.details.left_out)


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
        f"{count(len(grid.samples))} of {count(len(grid.samples) + grid.left_out)} samples", (drawn, Lines(((left,),)))
    )
