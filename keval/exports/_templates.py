"""Makes what draws pages from templates: all text is escaped, and what could act on a reader is shown as an escape."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from keval.exports._blocks import Cell, Fitted, Lines, Quote, Table
from keval.exports._strips import Panel
from keval.printable import printable, printable_lines

if TYPE_CHECKING:
    from jinja2 import Environment

_MOST_COLUMNS = 9
"""Columns of a table that fit on paper; more stand in several tables, each with the first column."""

_NUMBER = re.compile(r"[-+−$≥<≈~\[( ]*[0-9]([0-9.,]*[0-9])?%?(?=$|[\])\s])")

_NO_NUMBER = {"", "–", "NULL", "free"}
"""What stands in the place of a number."""

_ROW_HEIGHT, _BAR_HEIGHT = 24, 22
"""Pixels of a strip without samples below its mark."""


@cache
def environment(*packages: str, sample_address: Callable[[str], str] | None = None) -> Environment:
    """Return the templates of the page, and of other packages; names of files in these come first.

    `sample_address` gives the address at which all of a sample is shown, where there is one.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loaders = [PackageLoader(package, ".") for package in (*packages, "keval.exports")]
    made = Environment(
        loader=ChoiceLoader(loaders), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters |= {"shown": _shown, "shown_lines": printable_lines, "height": _height, "narrow": _narrow}
    made.globals |= {"sample_address": sample_address, "columns_of_numbers": columns_of_numbers}
    made.tests |= {
        "quote": lambda content: isinstance(content, Quote),
        "lines": lambda block: isinstance(block, Lines),
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


def columns_of_numbers(columns: Sequence[Cell], rows: Sequence[Sequence[Cell]]) -> list[bool]:
    """Return of each column whether it is aligned as numbers are: its title, and also what is unknown in it."""
    of_columns = [[row[place] for row in rows if place < len(row)] for place in range(max(map(len, (columns, *rows))))]
    return [
        any(map(_is_number, cells)) and all(_is_number(cell) or _shown(cell) in _NO_NUMBER for cell in cells)
        for cells in of_columns
    ]


def _is_number(cell: Cell) -> bool:
    """Return whether a cell begins with a number, as intervals and shares do, too; a date or an id is none."""
    return not isinstance(cell, Quote) and _NUMBER.match(_shown(cell)) is not None


def _height(panel: Panel) -> int:
    """Return the height of a panel's strips in pixels: all are as high as the one with most dots on each other."""
    if any(strip.parts for strip in panel.strips):
        return _BAR_HEIGHT
    levels = max((dot.level + 1 for strip in panel.strips for dot in strip.dots), default=0)
    marks = _ROW_HEIGHT if any(strip.mark is not None for strip in panel.strips) else 4
    return marks + max(5 * levels + 4 if levels else 0, 28 if any(strip.columns for strip in panel.strips) else 0)
