"""Says where the marks of a plot stand, in percent of its width, from a report's numbers; nothing is computed anew.

A plot is a table, and a strip is the cell between a row's name and its numbers in words. Axes of differences are
symmetric about 0 and equal for all metrics of one scale; axes of means are the whole scale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Side = Literal["better", "worse", "equal", "none"]
"""How a mark is drawn; the word for it stands beside it."""

Kind = Literal["scored", "failed", "unmeasured", "undone"]
"""What became of a part of the answers that were planned."""

MOST_DOTS = 200
"""Samples that are drawn as a dot each; more are counted in columns."""

MOST_STACKED = 12
"""Dots that stand on each other; where more would, they are counted in columns too."""

BINS = 20
"""Columns over the scale of a metric with many values."""

_DOT_WIDTH = 1.0
"""Percent of the width within which dots stand on each other."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One sample; `level` counts from 0 what it stands on."""

    x: float
    level: int
    side: Side
    name: str


@dataclass(frozen=True, slots=True)
class Column:
    """How many items lie in a part of the axis: as a share of the highest column of its strip."""

    x: float
    width: float
    height: float
    side: Side


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar whose whole width is what was planned."""

    x: float
    width: float
    kind: Kind


@dataclass(frozen=True, slots=True)
class Strip:
    """One row: what it is about, its marks, and its numbers in words."""

    name: str
    words: str
    conclusion: str = ""
    side: Side = "none"
    mark: float | None = None
    """The estimate; None if there is none."""
    line: tuple[float, float] | None = None
    """The interval; None if there is none, which the words tell."""
    band: tuple[float, float] | None = None
    """The margin that the config declared."""
    dots: tuple[Dot, ...] = ()
    columns: tuple[Column, ...] = ()
    parts: tuple[Part, ...] = ()
    is_baseline: bool = False


@dataclass(frozen=True, slots=True)
class Tick:
    """What stands below a place of an axis."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Strips on one axis."""

    caption: str
    ticks: tuple[Tick, ...]
    strips: tuple[Strip, ...]
    zero: float | None = None
    """Where the heavy line stands, if the axis has one."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values across the width."""

    lowest: float
    highest: float

    def place(self, value: float) -> float:
        """Return where a value stands, in percent of the width; what lies beyond stands at the end."""
        share = (value - self.lowest) / (self.highest - self.lowest)
        return round(100 * min(max(share, 0.0), 1.0), 2)

    def mark(self, value: float | None) -> float | None:
        """Return where an estimate stands, if there is one."""
        return None if value is None else self.place(value)

    def line(self, lower: float | None, upper: float | None) -> tuple[float, float] | None:
        """Return from where to where an interval goes, if there is one."""
        return None if lower is None or upper is None else (self.place(lower), self.place(upper))

    def dots(self, items: Sequence[tuple[str, float]], *, compared: bool = False) -> tuple[Dot, ...]:
        """Return a dot for each named value, ascending; none where there are too many. `compared`: 0 is a side."""
        if len(items) > MOST_DOTS:
            return ()
        stacked: Counter[float] = Counter()
        made = []
        for name, value in items:
            x = self.place(value)
            nearest = round(x / _DOT_WIDTH)
            made.append(Dot(x, stacked[nearest], _side(value) if compared else "none", name))
            stacked[nearest] += 1
        return () if max(stacked.values(), default=0) > MOST_STACKED else tuple(made)

    def columns(self, values: Iterable[tuple[float, int]], *, compared: bool = False) -> tuple[Column, ...]:
        """Return how many values lie in each part of the axis, from values with how often each is there."""
        bins = BINS + 1 if compared else BINS  # of differences one in the middle, for those that are none
        width = 100 / bins
        found: Counter[int] = Counter()
        for value, times in values:
            found[min(int(self.place(value) / width), bins - 1)] += times
        highest = max(found.values(), default=1)
        middle = BINS / 2
        return tuple(
            Column(
                round(number * width + width / 10, 2),
                round(width * 0.8, 2),
                round(times / highest, 3),
                _side(number - middle) if compared else "none",
            )
            for number, times in sorted(found.items())
        )


def _side(value: float) -> Side:
    if not value:
        return "equal"
    return "better" if value > 0 else "worse"


def bar(counts: Sequence[tuple[Kind, int]]) -> tuple[Part, ...]:
    """Return the parts of a bar whose width is the sum of the counts."""
    whole = sum(times for _, times in counts)
    made, at = [], 0.0
    for kind, times in counts:
        if times:
            made.append(Part(round(at, 2), round(100 * times / whole, 2), kind))
            at += 100 * times / whole
    return tuple(made)
