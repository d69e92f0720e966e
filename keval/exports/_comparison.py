"""Lays out what a report says of its comparisons: the sentences on top, and the samples worth reading first."""

from __future__ import annotations

from keval.exports._blocks import Cell, Lines, Section, Table
from keval.readable import number
from keval.reports.model import Report
from keval.reports.sentences import ONE_CONDITION, metric_name


def headlines(report: Report) -> Section | None:
    """Show what the comparisons show, a line for each, and below what they leave open and what makes them doubtful."""
    said = [headline.line for headline in report.headlines]
    said += dict.fromkeys(note for headline in report.headlines for note in headline.notes)
    if not said and report.metrics and len(report.conditions) == 1:
        said = [ONE_CONDITION]
    if report.read_with_care and report.metrics:
        said.append(report.read_with_care)
    return Section("Did it help?", (Lines(tuple((text,) for text in said)),)) if said else None


def changed_samples(report: Report) -> Section | None:
    """Show the samples that lost most, and those that gained most; where none lost, that is said."""
    blocks: list[Table | Lines] = []
    for found in report.changed_scores:
        if not found.lost:
            blocks.append(Lines(((f"{found.condition}: no sample got worse than under {found.baseline}",),)))
        for heading, scores in (
            (f"{found.condition}: lost most", found.lost),
            (f"{found.condition}: gained most", found.gained),
        ):
            if scores:
                columns = (heading, "metric", found.baseline, found.condition, "difference")
                rows: list[tuple[Cell, ...]] = [
                    (
                        each.sample_id,
                        metric_name(each, report.metrics),
                        number(each.baseline_mean),
                        number(each.mean),
                        number(each.difference, "+"),
                    )
                    for each in scores
                ]
                blocks.append(Table(columns, tuple(rows)))
    return Section("Where did it get worse?", tuple(blocks)) if blocks else None
