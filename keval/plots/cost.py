"""Cost and time against score: what a mean was paid with, for each condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from keval.exports import _plots
from keval.exports._strips import Panel, Strip
from keval.plots.captions import caption
from keval.plots.picture import (
    GRID,
    LINE,
    MARGIN,
    MUTED,
    PAPER,
    SIZE,
    TEXT,
    Picture,
    Shape,
    fitted,
    length,
    shortened,
    wrapped,
)
from keval.printable import printable
from keval.readable import dollars, duration
from keval.reports.model import ConditionSummary, Report

TITLE = "Score against"

SPREAD = 10
"""The largest amount over the smallest from which on their logarithms are drawn."""

PLOT, LABELS = (1.2, 3.7), (5.2, 3.6)
"""Where the axes and the labels begin and how wide they are."""

GUTTER = 0.6
"""Left of the axes, where conditions of unknown cost stand."""

LEAST_HEIGHT = 1.5

FEWEST_ON_A_FRONTIER = 3
"""Of two conditions their numbers say all."""

_INSET = 0.15


@dataclass(frozen=True, slots=True)
class Amount:
    """What an answer takes."""

    title: str
    of: Callable[[ConditionSummary], float | None]
    show: Callable[[float | None], str]
    scale: float = 1.0
    """By how much a number is divided for an axis with round numbers."""


AMOUNTS = (
    Amount("agent cost per answer", lambda found: found.agent_cost_per_answer_usd, dollars),
    Amount("median time per answer", lambda found: found.median_duration_ms, duration, 1000),
    Amount("p90 time per answer", lambda found: found.p90_duration_ms, duration, 1000),
)


@dataclass(frozen=True, slots=True)
class Point:
    """One condition: its mean as the page draws it, and what an answer took."""

    strip: Strip
    amount: float | None
    words: str


@dataclass(frozen=True, slots=True)
class Cloud:
    """All conditions by one metric and one amount."""

    panel: Panel
    amount: Amount
    points: tuple[Point, ...]

    @property
    def frontier(self) -> list[int]:
        """The numbers of the points that no other one beats, by what they took; of two conditions there is none."""
        if len(self.points) < FEWEST_ON_A_FRONTIER:
            return []
        at = [(point.amount, point.strip.mark) for point in self.points]
        return sorted(unbeaten(at), key=lambda number: at[number][0] or 0.0)


def unbeaten(points: Sequence[tuple[float | None, float | None]]) -> list[int]:
    """Return the numbers of the points, each an amount and a mean, that no other one beats (Pareto 1906).

    One beats another if it takes no more and has no lower mean, and is not the same in both.
    """
    known = {
        number: (amount, mean)
        for number, (amount, mean) in enumerate(points)
        if amount is not None and mean is not None
    }
    return [
        number
        for number, at in known.items()
        if not any(other != at and other[0] <= at[0] and other[1] >= at[1] for other in known.values())
    ]


def draw(report: Report, picture: Picture) -> list[str]:
    """Draw the means of each metric over cost and time, and return the key; none where neither is known."""
    found = list(clouds(report))
    for number, cloud in enumerate(found, 1):
        _cloud(picture, cloud, caption(report, f"{TITLE} {cloud.amount.title}", cloud.panel.caption), str(number))
    if not found:
        return []
    levels = sorted({score.ci_level for table in report.metrics for score in table.scores})
    told = " or ".join(f"{100 * level:.4g} %" for level in levels)
    key = [f"Circle: the baseline. Diamond: another condition. Line: the {told} interval of the mean."]
    key += ["Whether two conditions differ is read from their difference (--kind forest), not from two intervals."]
    hollow = any(point.strip.line is None and not point.strip.is_baseline for cloud in found for point in cloud.points)
    key += ["Hollow diamond: there is no interval."] if hollow else []
    if any(len(cloud.frontier) > 1 for cloud in found):
        key += ["Steps join those that no other one equals in both and beats in one (Pareto); chance is left aside."]
    return key + list(_partly_unknown(report.conditions))


def _partly_unknown(conditions: Sequence[ConditionSummary]) -> Iterator[str]:
    """Yield of which conditions a part of the cost is unknown, and how much."""
    costs = [(found.name, found.agent_cost_usd) for found in conditions if found.agent_cost_per_answer_usd is not None]
    told = [f"{name} {cost.unknown} of {cost.known + cost.unknown}" for name, cost in costs if cost.unknown]
    if told:
        yield f"Attempts of unknown cost, which count in no cost per answer: {', '.join(told)}."


def clouds(report: Report) -> Iterator[Cloud]:
    """Yield the means of each metric with what answers took, where that is known of any condition."""
    summaries = {found.key: found for found in report.conditions}
    panels = _plots.means(report.metrics, None)
    for amount in AMOUNTS:
        for table, panel in zip(report.metrics, panels, strict=True):
            of = [summaries.get((score.condition_id, score.agent_id)) for score in table.scores]
            taken = [None if found is None else amount.of(found) for found in of]
            if any(value is not None for value in taken):
                points = (
                    Point(strip, value, _words(strip, amount, value))
                    for strip, value in zip(panel.strips, taken, strict=True)
                )
                yield Cloud(panel, amount, tuple(points))


def _words(strip: Strip, amount: Amount, value: float | None) -> str:
    return f"{strip.words}; {'unknown' if value is None else amount.show(value)}"


def _cloud(picture: Picture, cloud: Cloud, title: str, name: str) -> None:
    for line in shortened(wrapped(title, picture.width - 2 * MARGIN, bold=True)):
        picture.bottom += LINE
        picture.text(MARGIN, picture.bottom, line, bold=True)
    labels = [_label(point) for point in cloud.points]
    height = max(LEAST_HEIGHT, sum(LINE * len(label) + 0.05 for label in labels))
    top = picture.bottom + 0.12
    bottom = top + height
    place = _axis(picture, cloud, top, bottom)
    at = [
        (place(point.amount), None if point.strip.mark is None else bottom - height * point.strip.mark / 100)
        for point in cloud.points
    ]
    _frontier(picture, [at[number] for number in cloud.frontier], name)
    wanted = [bottom - height / 2 if y is None else y for _, y in at]
    tops = spread(wanted, [LINE * len(label) + 0.05 for label in labels], top, bottom)
    for number, (point, (x, y), label, label_top) in enumerate(zip(cloud.points, at, labels, tops, strict=True), 1):
        if y is not None:
            _mark(picture, point.strip, x, (bottom, height), f"{name}-{number}")
            picture.line((x + 0.06, y), (LABELS[0] - 0.06, label_top + LINE * len(label) / 2), MUTED, 0.4)
        for row, text in enumerate(label, 1):
            picture.text(LABELS[0], label_top + row * LINE - 0.035, text, size=SIZE - 1)
    picture.bottom = bottom + 2 * LINE + 0.2


def _frontier(picture: Picture, at: Sequence[tuple[float, float | None]], name: str) -> None:
    """Draw steps from each place to the next one, which is further right and not below."""
    for number, ((x, y), (next_x, next_y)) in enumerate(pairwise(at), 1):
        if y is not None and next_y is not None:
            picture.line((x, y), (next_x, y), MUTED, 1.4, f"frontier-{name}-{number}")
            picture.line((next_x, y), (next_x, next_y), MUTED, 1.4)


def _label(point: Point) -> list[str]:
    """Return what stands beside a point, line by line: its name, and its numbers in words."""
    whole = f"{printable(point.strip.name)}: {point.words}"
    if length(whole, size=SIZE - 1) <= LABELS[1]:
        return [whole]
    names, words = (shortened(wrapped(text, LABELS[1], size=SIZE - 1)) for text in (point.strip.name, point.words))
    return [*names, *words]


def spread(wanted: Sequence[float], heights: Sequence[float], top: float, bottom: float) -> list[float]:
    """Return where labels begin: each as near to where it is wanted as the others let it, and in the same order."""
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    tops, free = [0.0] * len(wanted), top
    for number in order:
        tops[number] = max(free, wanted[number] - heights[number] / 2)
        free = tops[number] + heights[number]
    limit = bottom
    for number in reversed(order):
        tops[number] = min(tops[number], limit - heights[number])
        limit = tops[number]
    return tops


def _mark(picture: Picture, strip: Strip, x: float, axis: tuple[float, float], name: str) -> None:
    """Draw a mean and its interval, as far up as the page draws them to the right."""
    bottom, height = axis
    if strip.mark is None:
        return
    if strip.line is not None:
        lower, upper = (bottom - height * percent / 100 for percent in strip.line)
        picture.line((x, lower), (x, upper), TEXT, 2.0, f"interval-{name}")
    shape: Shape = "circle" if strip.is_baseline else "diamond"
    fill = PAPER if strip.is_baseline or strip.line is None else TEXT
    picture.marks([(x, bottom - height * strip.mark / 100)], shape, f"mark-{name}", fill=fill, edge=TEXT)


def _axis(picture: Picture, cloud: Cloud, top: float, bottom: float) -> Callable[[float | None], float]:
    """Draw the axes and return where an amount stands on the one below; an unknown one in its own place."""
    has_unknown = any(point.amount is None for point in cloud.points)
    left, right = PLOT[0] + (GUTTER if has_unknown else 0.0), PLOT[0] + PLOT[1]
    for tick in cloud.panel.ticks:
        y = bottom - (bottom - top) * tick.x / 100
        picture.line((PLOT[0], y), (right, y), GRID, 0.8)
        picture.text(PLOT[0] - 0.08, y + 0.04, tick.text, color=MUTED, size=SIZE - 1, align="right")
    picture.text(
        MARGIN + 0.1, (top + bottom) / 2, "mean score", color=MUTED, size=SIZE - 1, align="center", upwards=True
    )
    if has_unknown:
        picture.line((left, top), (left, bottom), MUTED, 0.8)
        picture.text(left - GUTTER / 2, bottom + LINE, "unknown", color=MUTED, size=SIZE - 1, align="center")
    known = [point.amount / cloud.amount.scale for point in cloud.points if point.amount is not None]
    is_log = min(known) > 0 and max(known) / min(known) >= SPREAD
    share, ticks = _logarithmic(known) if is_log else _linear(known)
    span = right - left - 2 * _INSET
    free = left - (0.05 if has_unknown else 0.3)
    for value in ticks:
        x, text = left + _INSET + span * share(value), cloud.amount.show(value * cloud.amount.scale)
        picture.line((x, top), (x, bottom), GRID, 0.8)
        half = length(text, size=SIZE - 1) / 2
        if x - half >= free:
            picture.text(x, bottom + LINE, text, color=MUTED, size=SIZE - 1, align="center")
            free = x + half + 0.08
    told = f"{cloud.amount.title}{', logarithmic' if is_log else ''}"
    picture.text(
        (left + right) / 2, bottom + 2 * LINE, fitted(told, PLOT[1]), color=MUTED, size=SIZE - 1, align="center"
    )
    middle = PLOT[0] + GUTTER / 2
    return lambda value: middle if value is None else left + _INSET + span * share(value / cloud.amount.scale)


def _linear(known: Sequence[float]) -> tuple[Callable[[float], float], list[float]]:
    """Return which share of the axis a value is at, and the values at which it has ticks; it begins at 0."""
    from matplotlib.ticker import MaxNLocator

    ticks = [float(tick) for tick in MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(0, max(known) or 1.0)]
    ticks = [tick for tick in ticks if tick >= 0]
    return lambda value: value / ticks[-1], ticks


def _logarithmic(known: Sequence[float]) -> tuple[Callable[[float], float], list[float]]:
    from math import log10

    from matplotlib.ticker import LogLocator

    lowest, highest = log10(min(known)), log10(max(known))
    ticks = [float(tick) for tick in LogLocator(subs=(1, 2, 5)).tick_values(min(known), max(known))]
    within = [tick for tick in ticks if min(known) <= tick <= max(known)]
    return lambda value: (log10(value) - lowest) / (highest - lowest), within
