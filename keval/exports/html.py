"""One HTML file that needs nothing else: the same sentences and tables, plots, and the answers to read.

The page has no script, and its policy allows none: whatever an answer, a name or an error says is text. It fits a phone
and paper, dark and light.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from keval.errors import UsageError
from keval.exports import Export
from keval.exports._blocks import Cell, Fitted, Lines, Quote, Table
from keval.exports._page import page, tab
from keval.exports._strips import Panel
from keval.plugins import option
from keval.printable import printable, printable_lines
from keval.reports.model import Report

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from jinja2 import Environment

_BEGINNING = "<!doctype html>\n<!-- keval report"

_MOST_COLUMNS = 9
"""Columns of a table that fit on paper; more stand in several tables, each with the first column."""

_ROW_HEIGHT, _BAR_HEIGHT = 24, 22
"""Pixels of a strip without samples below its mark."""


@dataclass(frozen=True, kw_only=True)
class Html(Export):
    """Writes a report as one self-contained page."""

    media_type: ClassVar[str] = "text/html"
    shows_details: ClassVar[bool] = True

    max_megabytes: float = field(default=10, metadata=option("size of the page; answers that do not fit are left out"))

    def __post_init__(self) -> None:
        """Refuse a size that no page has."""
        if not self.max_megabytes > 0:
            raise UsageError(f"max_megabytes is the size of a page, not {self.max_megabytes}")

    def render(self, report: Report) -> bytes:
        """Return the report as a UTF-8 page."""
        return self.render_all([report])

    def render_all(self, reports: Sequence[Report]) -> bytes:
        """Return several reports as one page, one below the other, each with its own heading and banner."""
        without_answers = _drawn(reports, 0)
        room = int(self.max_megabytes * 1e6) - len(without_answers)
        has_cases = any(report.details and report.details.cases for report in reports)
        return _drawn(reports, room // len(reports)) if has_cases and room > 0 else without_answers

    def is_own(self, head: bytes) -> bool:
        """Return whether a file begins as a page of ours."""
        return head.startswith(_BEGINNING.encode())


def _drawn(reports: Sequence[Report], room: int) -> bytes:
    """Return the page; each report has so much room for answers, in bytes."""
    environment = _environment()
    style = environment.get_template("_page.css").render()
    drawn = environment.get_template("_page.html").render(
        title=printable(" / ".join(map(tab, reports))),
        style_sha256=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        pages=[page(report, room) for report in reports],
    )
    mock = ", MOCK" if any(report.mock for report in reports) else ""
    return f"{_BEGINNING}{mock} -->\n{drawn.strip()}\n".encode()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("keval", "exports"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"shown": _shown, "shown_lines": printable_lines, "height": _height, "narrow": _narrow}
    made.tests |= {
        "quote": lambda content: isinstance(content, Quote),
        "lines": lambda block: isinstance(block, Lines),
        "numeric": _is_number,
    }
    return made


def _narrow(table: Table) -> Iterator[Table]:
    """Yield a table in parts that fit on paper, where its columns are conditions and metrics."""
    step = _MOST_COLUMNS - 1
    if len(table.columns) <= _MOST_COLUMNS or not (table.by_condition or table.splits):
        yield table
        return
    for start in range(1, len(table.columns), step):
        columns = (table.columns[0], *table.columns[start : start + step])
        yield replace(table, columns=columns, rows=tuple((row[0], *row[start : start + step]) for row in table.rows))


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
