"""Says how many there are of something: one thing in the singular, thousands with separators, the first by name."""

from __future__ import annotations

from collections.abc import Sequence

MOST_NAMED = 5
"""So many things of one message are named; the others are counted."""


def counted(times: int, noun: str) -> str:
    """Return a count with its noun, whose plural is made with an s."""
    return f"{times:,} {noun}" if times == 1 else f"{times:,} {noun}s"


def first_of(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return the first so many of some names, and how many more there are."""
    return ", ".join([*names[:most], *([f"and {len(names) - most:,} more"] if len(names) > most else [])])
