"""What a report is drawn from: tables and lines under titles.

A plain string is keval's own words or a name or number out of the log; a `Quote` is text that somebody wrote freely (a
claim, a message). The drawing side treats neither as markup.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quote:
    """Text that somebody wrote freely."""

    text: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """Keval's own words in one line, or below each other where a table with such lines is too wide."""

    wide: str
    narrow: tuple[str, ...]


Cell = str | Quote | Fitted


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column titles; the first column says what the row is about."""

    columns: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    by_condition: bool = False
    """Whether the other columns are numbers, of conditions for example, so that they may be drawn in several tables."""
    splits: bool = False
    """Whether the other columns may be drawn in several tables although they hold words."""


@dataclass(frozen=True, slots=True)
class Lines:
    """A list; the parts of a line stand side by side."""

    lines: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of the report."""

    title: str
    blocks: tuple[Table | Lines, ...]
