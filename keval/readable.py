"""Writes numbers, money, lengths of time and short texts as people read them, and reads a number as they write it.

What is not known is a dash.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, isfinite, log10

MOST_CHARACTERS = 200
"""Characters shown of a claim or message; a cut is marked by `…`."""

SMALLEST_P = 0.0001
"""The digits of a smaller p mean nothing."""

NOTHING = "–"
"""Stands where a number is unknown."""


def cut(text: str) -> str:
    """Return the text, or its first `MOST_CHARACTERS` characters with a mark."""
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"


def cut_inside(text: str, most: int = MOST_CHARACTERS) -> str:
    """Return the text, or how it begins and ends: a traceback begins with where it happened, and ends with what."""
    if len(text) <= most:
        return text
    begin = most // 3
    return f"{text[:begin]}…{text[begin + 1 - most :]}"


def number(value: float | None, sign: str = "") -> str:
    """Return a mean or spread with two decimals; a small number that is not 0 never looks like 0."""
    if value is None or not isfinite(value):
        return NOTHING
    if not value:
        return "0.00"
    return f"{value:{sign}.2g}" if abs(value) < 0.005 else f"{value:{sign}.2f}"  # noqa: PLR2004 - half of the last digit


def interval(lower: float | None, upper: float | None, sign: str = "") -> str:
    """Return an interval in brackets."""
    if lower is None or upper is None:
        return NOTHING
    return f"[{number(lower, sign)}, {number(upper, sign)}]"


def probability(value: float | None) -> str:
    """Return a p with two digits; of a very small one only that it is."""
    if value is None:
        return NOTHING
    return f"{value:.2g}" if value >= SMALLEST_P or not value else f"< {SMALLEST_P:g}"


def dollars(value: float | None) -> str:
    """Return an amount of money with digits enough to tell it from another one; of nothing, that it is free."""
    if value is None:
        return NOTHING
    if not value:
        return "free"
    if value >= 1:
        return f"${value:,.2f}"
    return f"${value:.{max(4, 1 - floor(log10(value)))}f}"


def percent(value: float | None) -> str:
    """Return a share in percent with one decimal."""
    return NOTHING if value is None else f"{value:.1%}"


def share(value: float | None) -> str:
    """Return a share in whole percent; what is not nothing never looks like nothing, nor what is not all like all."""
    if value is None:
        return NOTHING
    rounded = f"{value:.0%}"
    if rounded == "0%" and value:
        return "less than 1 %"
    if rounded == "100%" and value < 1:
        return "more than 99 %"
    return rounded.replace("%", " %")


def count(value: float | None) -> str:
    """Return a count with thousands separators."""
    return NOTHING if value is None else f"{value:,.0f}"


def duration(milliseconds: float | None) -> str:
    """Return a duration in seconds, with two digits at least; a short one that is not 0 never looks like 0."""
    if milliseconds is None:
        return NOTHING
    seconds = milliseconds / 1000
    return f"{seconds:,.2f} s" if seconds >= 0.1 or not seconds else f"{seconds:.2g} s"  # noqa: PLR2004 - two digits


def kinds(failed: Mapping[str, int]) -> str:
    """Return how many failed, and of which kinds."""
    by_kind = ", ".join(f"{kind} {times}" for kind, times in failed.items())
    return f"{sum(failed.values())} ({by_kind})" if by_kind else "0"


def written_number(written: str) -> float | None:
    """Return the number that somebody wrote; None for what no person writes as one, such as 0_4, which Python takes."""
    try:
        return None if "_" in written else float(written)
    except ValueError:
        return None
