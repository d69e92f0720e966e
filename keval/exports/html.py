"""One HTML file that needs nothing else: the same sentences and tables, plots, and the answers to read.

The page has no script, and its policy allows none: whatever an answer, a name or an error says is text. It fits a phone
and paper, dark and light.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from keval.errors import UsageError
from keval.exports import Export
from keval.exports._page import Page, page, tab, with_cases
from keval.exports._templates import environment
from keval.plugins import option
from keval.printable import printable
from keval.reports.model import Report

_BEGINNING = "<!doctype html>\n<!-- keval report"


@dataclass(frozen=True, kw_only=True)
class Html(Export):
    """Writes a report as one self-contained page."""

    shows_details: ClassVar[bool] = True

    max_megabytes: float = field(default=10, metadata=option("size of the page; answers that do not fit are left out"))

    def __post_init__(self) -> None:
        """Refuse a size that no page has."""
        if not 0 < self.max_megabytes < math.inf:
            raise UsageError(f"max_megabytes is the size of a page, not {self.max_megabytes}")

    def render(self, report: Report) -> bytes:
        """Return the report as a UTF-8 page."""
        return self.render_all([report])

    def render_all(self, reports: Sequence[Report]) -> bytes:
        """Return several reports as one page, one below the other, each with its own heading and banner."""
        pages = [page(report) for report in reports]
        without_answers = _drawn(reports, pages)
        room = int(self.max_megabytes * 1e6) - len(without_answers)
        has_cases = any(report.details and report.details.cases for report in reports)
        if not has_cases or room <= 0:
            return without_answers
        each = room // len(reports)
        return _drawn(reports, [with_cases(*drawn, each) for drawn in zip(pages, reports, strict=True)])

    def is_own(self, head: bytes) -> bool:
        """Return whether a file begins as a page of ours."""
        return head.startswith(_BEGINNING.encode())


def _drawn(reports: Sequence[Report], pages: Sequence[Page]) -> bytes:
    """Return the file that shows the pages of the reports."""
    made = environment()
    style = made.get_template("_page.css").render()
    drawn = made.get_template("_page.html").render(
        title=printable(" / ".join(map(tab, reports))),
        style_sha256=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        pages=pages,
    )
    mock = ", MOCK" if any(report.mock for report in reports) else ""
    return f"{_BEGINNING}{mock} -->\n{drawn.strip()}\n".encode()
