"""What stands above a part of a picture, so that a cut-out of it still says what it is."""

from __future__ import annotations

from collections.abc import Sequence

from keval.exports._strips import Panel
from keval.reports.model import Report


def caption(report: Report, title: str, about: str) -> str:
    """Return the caption of a part: a mock is named first."""
    return f"{'MOCK · ' if report.mock else ''}{title}: {about}"


def captions(report: Report, title: str, panels: Sequence[Panel]) -> list[str]:
    """Return the caption of each panel."""
    return [caption(report, title, panel.caption) for panel in panels]
