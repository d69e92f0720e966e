"""Tables with a column per condition, and below them why some cells say nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from keval.exports._blocks import Lines, Table
from keval.readable import NOTHING

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Row(Generic[Item]):
    """One row of a table with a column per condition: how to show a cell, and why it is unknown."""

    label: str
    show: Callable[[Item], str]
    reason: Callable[[Item], str | None] = lambda _: None
    nothing: str | None = None
    """What a cell shows where there is nothing to tell; a row of that, or of dashes, is left out."""


def side_by_side(items: Sequence[Item], names: Sequence[str], rows: Sequence[Row[Item]]) -> tuple[Table | Lines, ...]:
    """Return a table with one column per item, and below it why some cells say nothing, each reason once."""
    drawn = []
    reasons: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for row in rows:
        cells = [row.show(item) for item in items]
        for reason in dict.fromkeys(reason for item in items if (reason := row.reason(item))):
            who = tuple(name for item, name in zip(items, names, strict=True) if row.reason(item) == reason)
            reasons.setdefault((reason, who), []).append(row.label)
        if not set(cells) <= {row.nothing, NOTHING}:
            drawn.append((row.label, *cells))
    table = Table(columns=("", *names), rows=tuple(drawn), by_condition=True)
    lines = tuple((f"{', '.join(labels)}{of(who, len(items))}: {reason}",) for (reason, who), labels in reasons.items())
    return (table, Lines(lines)) if lines else (table,)


def of(names: Sequence[str], number: int) -> str:
    """Return of which conditions something is said, of so many."""
    if len(names) == number:
        return ", each condition" if number > 1 else ""
    return f", {', '.join(names)}"
