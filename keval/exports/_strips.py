"""Says where the marks of a plot stand, in percent of its width, from a report's numbers; nothing is computed anew.

A plot is a table, and a strip is the cell between a row's name and its numbers in words. Axes of differences are
symmetric about 0 and equal for all metrics of one scale; axes of means are the whole scale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from keval.readable import number

Side = Literal["better", "worse", "equal", "none"]
"""How a mark is drawn; the word for it stands beside it."""

AnswerState = Literal["scored", "failed", "unmeasured", "undone"]
"""What became of a part of the answers that were planned."""

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
    """The sample's, and its value."""


@dataclass(frozen=True, slots=True)
class Column:
    """How many items lie in a part of the axis, or beside it: those that have no place on it."""

    x: float
    width: float
    times: int
    side: Side
    kind: AnswerState = "scored"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar whose whole width is what was planned."""

    x: float
    width: float
    kind: AnswerState


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

    @property
    def highest(self) -> int:
        """How many items the highest column of all strips stands for: all have one scale of height."""
        return max((column.times for strip in self.strips for column in strip.columns), default=1)


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values across the width."""

    lowest: float
    highest: float
    width: float = 100.0
    """Percent of the strip that it takes; what stands beside it is at no value."""

    def place(self, value: float) -> float:
        """Return where a value stands, in percent of the strip; what lies beyond stands at the end."""
        share = (value - self.lowest) / (self.highest - self.lowest)
        return round(self.width * min(max(share, 0.0), 1.0), 2)

    def mark(self, value: float | None) -> float | None:
        """Return where an estimate stands, if there is one."""
        return None if value is None else self.place(value)

    def line(self, lower: float | None, upper: float | None) -> tuple[float, float] | None:
        """Return from where to where an interval goes, if there is one."""
        return None if lower is None or upper is None else (self.place(lower), self.place(upper))

    def dots(self, items: Sequence[tuple[str, float]], *, compared: bool = False) -> tuple[Dot, ...]:
        """Return a dot for each named value, ascending; `compared`: 0 is a side."""
        stacked: Counter[float] = Counter()
        made = []
        for name, value in items:
            x = self.place(value)
            nearest = round(x / _DOT_WIDTH)
            side = _side(value) if compared else "none"
            made.append(Dot(x, stacked[nearest], side, f"{name} {number(value, '+' if compared else '')}"))
            stacked[nearest] += 1
        return tuple(made)

    def rows_of_dots(
        self, rows: Sequence[Sequence[tuple[str, float]]], *, compared: bool = False
    ) -> list[tuple[Dot, ...]] | None:
        """Return the dots of each row of a plot; None if those of any are too many: then all rows have columns."""
        made = [self.dots(row, compared=compared) for row in rows]
        return None if any(dot.level >= MOST_STACKED for dots in made for dot in dots) else made

    def columns(self, values: Iterable[tuple[float, int]], *, compared: bool = False) -> tuple[Column, ...]:
        """Return how many values lie around each of some places of the axis, from values with how often each is there.

        The places are the ends and those between in equal steps, so that whole numbers of a small scale, and 0 of a
        difference, each stand in the middle of a column.
        """
        steps = self._steps()
        steps *= 2 if compared and steps % 2 else 1  # of an odd number none is in the middle
        step, middle = self.width / steps, steps // 2
        found: Counter[int] = Counter()
        for value, times in values:
            nearest = round(self.place(value) / step)
            if compared and value and nearest == middle:  # what is a little better is not equal
                nearest += 1 if value > 0 else -1
            found[nearest] += times
        return tuple(
            Column(
                round((number - 0.4) * step, 2),
                round(0.8 * step, 2),
                times,
                _side(number - middle) if compared else "none",
            )
            for number, times in sorted(found.items())
        )

    def _steps(self) -> int:
        span = self.highest - self.lowest
        return BINS // int(span) * int(span) if span == int(span) and 1 <= span <= BINS else BINS

    def beside(self, counts: Sequence[tuple[AnswerState, int]]) -> tuple[Column, ...]:
        """Return a column for each count, to the right of the axis: of what has no value."""
        step = (100 - self.width) / (len(counts) + 1)
        return tuple(
            Column(round(self.width + step * place - 2, 2), 4.0, times, "none", kind)
            for place, (kind, times) in enumerate(counts, start=1)
            if times
        )


def _side(value: float) -> Side:
    if not value:
        return "equal"
    return "better" if value > 0 else "worse"


def bar(counts: Sequence[tuple[AnswerState, int]]) -> tuple[Part, ...]:
    """Return the parts of a bar whose width is the sum of the counts."""
    whole = sum(times for _, times in counts)
    made, at = [], 0.0
    for kind, times in counts:
        if times:
            made.append(Part(round(at, 2), round(100 * times / whole, 2), kind))
            at += 100 * times / whole
    return tuple(made)
