"""Differences with their intervals: what a condition changed, metric by metric."""

from __future__ import annotations

from keval.exports import _plots
from keval.plots import strips
from keval.plots.captions import captions
from keval.plots.picture import Picture
from keval.reports.model import Report

TITLE = "Differences"


def draw(report: Report, picture: Picture) -> list[str]:
    """Draw a strip for each difference and return the key to them; none where nothing is compared."""
    panels = _plots.differences(report.metrics)
    drawn = [strip for panel in panels for strip in panel.strips]
    strips.draw(picture, panels, captions(report, TITLE, panels))
    if not drawn:
        return []
    levels = sorted({each.ci_level for table in report.metrics for each in table.differences})
    told = " or ".join(f"{100 * level:.4g} %" for level in levels)
    key = [
        f"Diamond: the difference, paired by sample. Line: its {told} interval. The word beside it says what it shows."
    ]
    key += ["Diamond without a line: there is no interval."] if any(strip.line is None for strip in drawn) else []
    key += ["Grey band: the margin that the config declared."] if any(strip.band for strip in drawn) else []
    return key
