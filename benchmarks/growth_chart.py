"""Draws the growth of time and memory as an SVG: two panels, both axes logarithmic, one line for each command.

The dashed line is linear growth; a command's line that is no steeper grows linearly or better.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from benchmarks.benchmark import Measurement
from benchmarks.growth import sizes
from benchmarks.tables import middle, values, where

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933", "#882255", "#44aa99")
"""Told apart by people who do not see all colours: Okabe and Ito (2008), Tol (2021)."""

PANEL, HEIGHT, LEFT, TOP, LEGEND = 330, 260, 60, 40, 18
"""Pixels: size of a panel, margins, and a line of the legend."""

Scale = Callable[[float], float]


def svg(measurements: Sequence[Measurement]) -> str:
    """Return the picture."""
    commands = [str(what) for what in values(measurements, "what")]
    width, height = 2 * (PANEL + LEFT) + 30, TOP + HEIGHT + 60 + LEGEND * math.ceil(len(commands) / 2)
    size, font = f'viewBox="0 0 {width} {height}"', 'font-family="sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for number, (title, field) in enumerate((("wall seconds", "wall_s"), ("peak MiB", "peak_mib"))):
        parts += _panel(measurements, commands, title, field, left=LEFT + number * (PANEL + LEFT))
    for number, what in enumerate(commands):
        x, y = LEFT + number % 2 * (PANEL + LEFT), TOP + HEIGHT + 60 + number // 2 * LEGEND
        parts.append(f'<path d="M{x} {y - 4}h24" stroke="{COLOURS[number]}" stroke-width="3"/>')
        parts.append(f'<text x="{x + 30}" y="{y}">{what}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(
    measurements: Sequence[Measurement], commands: Sequence[str], title: str, field: str, *, left: int
) -> list[str]:
    """Return axes, grid and lines of one figure."""
    events = sizes(measurements)
    lines = [
        [(n, value) for n in events if (value := middle(where(measurements, what=what, events=n), field))]
        for what in commands
    ]
    found = [value for line in lines for _, value in line]
    across, x_ticks = _scale(min(events), max(events), left, left + PANEL)
    up, y_ticks = _scale(min(found), max(found), TOP + HEIGHT, TOP)
    parts = [f'<text x="{left}" y="{TOP - 14}" font-weight="bold">{title} by events in the log</text>']
    for tick in x_ticks:
        parts.append(f'<path d="M{across(tick):.1f} {TOP}V{TOP + HEIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{across(tick):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{tick:,.0f}</text>')
    for tick in y_ticks:
        parts.append(f'<path d="M{left} {up(tick):.1f}h{PANEL}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 6}" y="{up(tick) + 4:.1f}" text-anchor="end">{tick:,g}</text>')
    linear = min(events) * 10 ** round(math.log10(y_ticks[-1] / y_ticks[0]))
    end = min(linear, x_ticks[-1])
    parts.append(
        f'<path d="M{across(min(events)):.1f} {up(y_ticks[0]):.1f}L{across(end):.1f} '
        f'{up(y_ticks[0] * end / min(events)):.1f}" stroke="#999" stroke-dasharray="4"/>'
    )
    for colour, line in zip(COLOURS, lines, strict=False):
        points = " ".join(f"{across(n):.1f},{up(value):.1f}" for n, value in line)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    return parts


def _scale(low: float, high: float, start: float, end: float) -> tuple[Scale, list[float]]:
    """Return a logarithmic scale from whole power of ten to whole power of ten, and these powers."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    last = max(last, first + 1)
    return (
        lambda value: start + (math.log10(value) - first) / (last - first) * (end - start),
        [10.0**power for power in range(first, last + 1)],
    )
