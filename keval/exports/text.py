"""Tables for a terminal.

Everything that comes out of the log is shown as it is: never as colour, markup or escape code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING

from keval.exports import Export
from keval.exports._layout import Cell, Lines, Quote, Section, Table, sections, title
from keval.plugins import option
from keval.printable import printable
from keval.reports.model import Report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console
    from rich.text import Text as RichText

_GAP = 3
"""Columns between two cells."""


@dataclass(frozen=True, kw_only=True)
class Text(Export):
    """Draws a report for people at a terminal."""

    width: int = field(default=100, metadata=option("columns of the terminal"))
    color: bool = field(default=False, metadata=option("mark headings and warnings by colour"))

    def render(self, report: Report) -> bytes:
        """Return the report as UTF-8 text; `width` bounds its lines."""
        buffer = StringIO()
        console = self._console(buffer)
        if report.banner:
            console.print(_plain(report.banner, "bold red"), end="\n\n")
        console.print(_plain(title(report.header), "bold"))
        for section in sections(report):
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
        console.print(_plain(section.title, style))
        for block in section.blocks:
            if isinstance(block, Lines):
                _print_lines(console, block)
            else:
                for part in _that_fit(block, self.width):
                    _print_table(console, part)


def _plain(cell: Cell, style: str = "") -> RichText:
    """Return a cell as text that is only text."""
    from rich.text import Text as RichText

    return RichText(printable(cell.text if isinstance(cell, Quote) else cell), style=style, overflow="fold")


def _print_lines(console: Console, block: Lines) -> None:
    from rich.table import Table as RichTable

    drawn = RichTable.grid(padding=(0, 1), pad_edge=True)
    drawn.add_column()
    drawn.add_column(overflow="fold")
    for line in block.lines:
        text = _plain("")
        for part in line:
            text.append_text(_plain(part))
        drawn.add_row("-", text)
    console.print(drawn)


def _print_table(console: Console, table: Table) -> None:
    from rich import box
    from rich.table import Table as RichTable

    drawn = RichTable(box=box.SIMPLE_HEAD if table.columns else None, show_header=bool(table.columns), pad_edge=True)
    for position in range(len(table.rows[0])):
        drawn.add_column(
            _plain(table.columns[position]) if table.columns else "",
            justify="right" if table.by_condition and position else "left",
            overflow="fold",
        )
    for row in table.rows:
        drawn.add_row(*(_plain(cell) for cell in row))
    console.print(drawn)


def _that_fit(table: Table, width: int) -> Iterator[Table]:
    """Yield the table, in several parts beside its first column when its conditions do not fit side by side."""
    if not table.by_condition:
        yield table
        return
    widths = [_width(table, position) for position in range(len(table.columns))]
    start = 1
    while start < len(widths):
        end, free = start + 1, width - widths[0] - widths[start]
        while end < len(widths) and widths[end] <= free:
            free -= widths[end]
            end += 1
        yield Table(
            (table.columns[0], *table.columns[start:end]),
            tuple((row[0], *row[start:end]) for row in table.rows),
            by_condition=True,
        )
        start = end


def _width(table: Table, position: int) -> int:
    cells = (table.columns[position], *(row[position] for row in table.rows))
    return max(_plain(cell).cell_len for cell in cells) + _GAP
