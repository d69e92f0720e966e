"""Difference of each sample: where a condition made answers worse, and where better."""

from __future__ import annotations

from keval.exports import _plots
from keval.exports._strips import Strip
from keval.plots import strips
from keval.plots.captions import captions
from keval.plots.picture import Picture
from keval.reports.model import Report

TITLE = "Difference of each sample"


def draw(report: Report, picture: Picture) -> list[str]:
    """Draw each sample at its difference and return the key; none where nothing is compared."""
    panels = _plots.samples_compared(report.metrics, report.details)
    strips.draw(picture, panels, captions(report, TITLE, panels))
    drawn: list[Strip] = [strip for panel in panels for strip in panel.strips]
    sides = "Left and filled: worse than the baseline. Grey: equal. Right and hollow: better."
    key = ["A dot is one sample."] if any(strip.dots for strip in drawn) else []
    key += (
        ["A column counts samples; the highest of each row has the whole height."]
        if any(strip.columns for strip in drawn)
        else []
    )
    return [f"{' '.join(key)} {sides}"] if key else []
