"""Small statements over measurements: medians by what was measured, and Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.benchmark import Measurement

NONE = "–"


def table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def where(measurements: Iterable[Measurement], **fields: object) -> list[Measurement]:
    """Return the measurements with these values."""
    return [each for each in measurements if all(each.get(name) == value for name, value in fields.items())]


def values(measurements: Iterable[Measurement], field: str) -> list[object]:
    """Return the different values of a field, in the order in which they came."""
    return list(dict.fromkeys(each[field] for each in measurements if field in each))


def middle(measurements: Iterable[Measurement], field: str) -> float | None:
    """Return the median of a field over the measurements that did not fail; None if there is none."""
    found = [each[field] for each in measurements if "failed" not in each and field in each]
    return median(found) if found else None


def told(value: float | None, digits: int = 2) -> str:
    """Return a number for a cell; without one, a dash."""
    return NONE if value is None else f"{value:,.{digits}f}"
