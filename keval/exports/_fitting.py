"""Fits tables into a number of columns, so that no word is cut in two as long as it fits at all."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from keval.exports._blocks import Cell, Fitted, Quote, Table
from keval.printable import printable

GAP = 3
"""Columns between two cells."""

EDGES = 4
"""Columns beside a table, on both sides together."""

LONGEST_QUOTED_WORD = 30
"""A longer one, such as an address, may be cut in two: else it would take the whole table's width."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A table of texts, with how wide each column is."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    widths: tuple[int, ...]
    by_condition: bool
    is_airy: bool
    """Whether there is space between the rows, because they have several lines."""


def drawings(table: Table, width: int) -> Iterator[Drawing | Table]:
    """Yield a table as one drawing, or in several parts; as it came, for a list, where its longest words do not fit."""
    for stacked in (False, True):
        wanted = _widths(table, stacked=stacked)
        if sum(wanted) + GAP * (len(wanted) - 1) + EDGES <= width:
            yield _drawing(table, wanted, stacked=stacked)
            return
    if (table.by_condition or table.splits) and len(wanted) > 1:
        parts = _parts(table, wanted, width)
        yield from parts or (table,)
        return
    least = _least(table)
    free = width - EDGES - GAP * (len(least) - 1) - sum(least)
    if free < 0:
        yield table
        return
    yield _drawing(table, _shared(least, wanted, free), stacked=True)


def _parts(table: Table, wanted: Sequence[int], width: int) -> list[Drawing]:
    """Return as many columns side by side as fit beside the first one, or nothing if one does not."""
    first = min(wanted[0], max(_least(table)[0], width * 2 // 5))
    free = width - EDGES - first
    if GAP + max(wanted[1:]) > free:
        return []
    found, start = [], 1
    while start < len(wanted):
        end = start + 1
        while end < len(wanted) and sum(wanted[start : end + 1]) + GAP * (end + 1 - start) <= free:
            end += 1
        part = Table(
            (table.columns[0], *table.columns[start:end]),
            tuple((row[0], *row[start:end]) for row in table.rows),
            by_condition=table.by_condition,
        )
        found.append(_drawing(part, (first, *wanted[start:end]), stacked=True))
        start = end
    return found


def _shared(least: Sequence[int], wanted: Sequence[int], free: int) -> tuple[int, ...]:
    """Return widths between the least and the wanted ones: what is free goes to the narrowest that want more."""
    widths = list(least)
    while free > 0 and (growing := [place for place, each in enumerate(widths) if each < wanted[place]]):
        narrowest = min(growing, key=lambda place: widths[place])
        widths[narrowest] += 1
        free -= 1
    return tuple(widths)


def _drawing(table: Table, widths: Sequence[int], *, stacked: bool) -> Drawing:
    rows = tuple(tuple(text(cell, stacked=stacked) for cell in row) for row in table.rows)
    columns = tuple(text(cell, stacked=stacked) for cell in table.columns)
    is_airy = any("\n" in cell for row in rows for cell in row)
    return Drawing(columns, rows, tuple(widths), table.by_condition, is_airy)


def text(cell: Cell, *, stacked: bool = False) -> str:
    """Return what is drawn of a cell: text that is only text."""
    if isinstance(cell, Fitted):
        return "\n".join(map(printable, cell.narrow)) if stacked else printable(cell.wide)
    return printable(cell.text if isinstance(cell, Quote) else cell)


def _columns(table: Table) -> list[list[Cell]]:
    rows = [*([table.columns] if table.columns else []), *table.rows]
    return [[row[place] for row in rows] for place in range(len(rows[0]))]


def _widths(table: Table, *, stacked: bool) -> tuple[int, ...]:
    """Return how wide each column has to be for its longest line."""
    return tuple(
        max(cell_len(line) for cell in column for line in text(cell, stacked=stacked).split("\n"))
        for column in _columns(table)
    )


def _least(table: Table) -> tuple[int, ...]:
    """Return how wide each column has to be for its longest word."""
    return tuple(max(1, *(_longest_word(cell) for cell in column)) for column in _columns(table))


def _longest_word(cell: Cell) -> int:
    most = LONGEST_QUOTED_WORD if isinstance(cell, Quote) else None
    words = (cell_len(word) for word in re.split(r"\s+", text(cell, stacked=True)))
    return max((min(each, most or each) for each in words), default=0)
