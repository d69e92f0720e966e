"""Tables for a terminal.

Everything that comes out of the log is shown as it is: never as colour, markup or escape code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING

from keval.errors import UsageError
from keval.exports import Export
from keval.exports._blocks import Lines, Section, Table
from keval.exports._fitting import Drawing, drawings, text
from keval.exports._layout import sections, title
from keval.plugins import option
from keval.printable import printable
from keval.reports.model import Report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.text import Text as RichText

NARROWEST = 20
"""Columns below which words are cut in pieces."""


@dataclass(frozen=True, kw_only=True)
class Text(Export):
    """Draws a report for people at a terminal."""

    width: int = field(default=100, metadata=option("columns of the terminal"))
    color: bool = field(default=False, metadata=option("mark headings and warnings by colour"))

    def __post_init__(self) -> None:
        """Raise UsageError for a width in which nothing can be read."""
        if self.width < NARROWEST:
            raise UsageError(f"a report needs a width of {NARROWEST} columns at least, not {self.width}")

    def render(self, report: Report) -> bytes:
        """Return the report as UTF-8 text; `width` bounds its lines."""
        return self.draw(title(report.header), sections(report), report.banner)

    def draw(self, heading: str, found: Sequence[Section], banner: str | None = None) -> bytes:
        """Return sections under a heading as UTF-8 text."""
        buffer = StringIO()
        console = self._console(buffer)
        if banner:
            console.print(_plain(printable(banner), "bold red"), end="\n\n")
        console.print(_plain(printable(heading), "bold"))
        for section in found:
            self._section(console, section)
        lines = [line.rstrip() for line in buffer.getvalue().rstrip("\n").split("\n")]
        kept = [line for line, before in zip(lines, ["", *lines], strict=False) if line or before]
        return ("\n".join(kept) + "\n").encode()

    def is_own(self, head: bytes) -> bool:
        """Return whether a file begins as a report in text: with its title, below what a mock run says first."""
        return re.match(rb"(MOCK: ([^\n]+\n)+\n)?keval report[:\n]", head) is not None

    def _console(self, buffer: StringIO) -> Console:
        from rich.console import Console

        return Console(
            file=buffer,
            width=self.width,
            force_terminal=self.color,
            color_system="standard" if self.color else None,
            force_jupyter=False,
            markup=False,
            emoji=False,
            highlight=False,
            soft_wrap=False,
            legacy_windows=False,
            _environ={},  # NO_COLOR, COLUMNS and their like must not change the bytes
        )

    def _section(self, console: Console, section: Section) -> None:
        style = "bold yellow" if section.title in {"Read this first", "Warnings"} else "bold"
        console.print()
        console.print(_plain(printable(section.title), style))
        for block in section.blocks:
            if isinstance(block, Lines):
                _print_lines(console, block)
            elif block.rows:
                _print_table(console, block, self.width)


def _plain(said: str, style: str = "") -> RichText:
    """Return text that is only text."""
    from rich.text import Text as RichText

    return RichText(said, style=style, overflow="fold")


def _print_lines(console: Console, block: Lines) -> None:
    from rich.table import Table as RichTable

    drawn = RichTable.grid(padding=(0, 1), pad_edge=True)
    drawn.add_column()
    drawn.add_column(overflow="fold")
    for line in block.lines:
        drawn.add_row("-", _plain("".join(map(text, line))))
    console.print(drawn)


def _print_table(console: Console, table: Table, width: int) -> None:
    for drawn in drawings(table, width):
        if isinstance(drawn, Drawing):
            _print_drawing(console, drawn)
        else:
            _print_records(console, drawn)


def _print_drawing(console: Console, drawing: Drawing) -> None:
    from rich import box
    from rich.table import Table as RichTable

    drawn = RichTable(
        box=box.SIMPLE_HEAD if drawing.columns else None,
        show_header=bool(drawing.columns),
        pad_edge=True,
        leading=int(drawing.is_airy),
    )
    for place, width in enumerate(drawing.widths):
        drawn.add_column(
            _plain(drawing.columns[place]) if drawing.columns else "",
            justify="right" if drawing.by_condition and place else "left",
            overflow="fold",
            width=width,
        )
    for row in drawing.rows:
        drawn.add_row(*map(_plain, row))
    console.print(drawn)


def _print_records(console: Console, table: Table) -> None:
    """Print the cells of each row below each other: side by side their words would be cut in two."""
    if table.columns and table.columns[0]:  # it may say which metric the numbers are of
        console.print()
        console.print(_plain(text(table.columns[0])))
    for row in table.rows:
        console.print()
        console.print(_plain(text(row[0])))
        for place, cell in enumerate(row[1:], start=1):
            title = f"{text(table.columns[place])}: " if table.columns else ""
            console.print(_plain(f"  {title}{text(cell)}"))
