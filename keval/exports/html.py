"""One HTML file that needs nothing else: the same sentences and tables, plots, and the answers to read.

The page has no script, and its policy allows none: whatever an answer, a name or an error says is text. It fits a phone
and paper, dark and light.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from keval.exports import Export
from keval.exports._blocks import Cell, Fitted, Lines, Quote
from keval.exports._page import page, tab
from keval.exports._strips import Panel
from keval.plugins import option
from keval.printable import printable, printable_lines
from keval.reports.model import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

_BEGINNING = "<!doctype html>\n<!-- keval report"

_FOR_ANSWERS = 0.8
"""The part of a page that is for answers."""

_ROW_HEIGHT, _BAR_HEIGHT = 24, 22
"""Pixels of a strip without samples below its mark."""


@dataclass(frozen=True, kw_only=True)
class Html(Export):
    """Writes a report as one self-contained page."""

    media_type: ClassVar[str] = "text/html"
    shows_details: ClassVar[bool] = True

    max_megabytes: float = field(default=10, metadata=option("size of the page; answers that do not fit are left out"))

    def render(self, report: Report) -> bytes:
        """Return the report as a UTF-8 page."""
        return self.render_all([report])

    def render_all(self, reports: Sequence[Report]) -> bytes:
        """Return several reports as one page, one below the other, each with its own heading and banner."""
        environment, room = _environment(), int(self.max_megabytes * 1e6 * _FOR_ANSWERS) // max(len(reports), 1)
        style = environment.get_template("_page.css").render()
        drawn = environment.get_template("_page.html").render(
            title=printable(" / ".join(map(tab, reports))),
            style_sha256=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            pages=[page(report, room) for report in reports],
        )
        mock = ", MOCK" if any(report.mock for report in reports) else ""
        return f"{_BEGINNING}{mock} -->\n{drawn.strip()}\n".encode()

    def is_own(self, head: bytes) -> bool:
        """Return whether a file begins as a page of ours."""
        return head.startswith(_BEGINNING.encode())


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("keval", "exports"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"shown": _shown, "shown_lines": printable_lines, "height": _height}
    made.tests |= {
        "quote": lambda content: isinstance(content, Quote),
        "lines": lambda block: isinstance(block, Lines),
        "numeric": _is_number,
    }
    return made


def _shown(cell: Cell) -> str:
    if isinstance(cell, Quote):
        return printable(cell.text)
    return printable(cell.wide if isinstance(cell, Fitted) else cell)


def _is_number(cell: Cell) -> bool:
    return re.fullmatch(r"[-+−$≥ ]*[0-9][0-9.,%]*( s| ms)?|–|free", _shown(cell)) is not None


def _height(panel: Panel) -> int:
    """Return the height of a panel's strips in pixels: all are as high as the one with most dots on each other."""
    if any(strip.parts for strip in panel.strips):
        return _BAR_HEIGHT
    levels = max((dot.level + 1 for strip in panel.strips for dot in strip.dots), default=0)
    marks = _ROW_HEIGHT if any(strip.mark is not None for strip in panel.strips) else 4
    return marks + max(5 * levels + 4 if levels else 0, 28 if any(strip.columns for strip in panel.strips) else 0)
