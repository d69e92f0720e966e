"""Says how many there are of something: one thing in the singular, thousands with separators."""

from __future__ import annotations


def counted(times: int, noun: str) -> str:
    """Return a count with its noun, whose plural is made with an s."""
    return f"{times:,} {noun}" if times == 1 else f"{times:,} {noun}s"
