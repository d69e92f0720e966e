"""Draws the strips that a page has, with the same marks at the same places."""

from __future__ import annotations

from collections.abc import Sequence

from keval.exports._strips import Column, Dot, Panel, Side, Strip
from keval.plots.picture import (
    BETTER,
    GRID,
    LINE,
    MARGIN,
    MUTED,
    PAPER,
    SIZE,
    TEXT,
    WORSE,
    Picture,
    Shape,
    fitted,
    length,
    shortened,
    wrapped,
)

WIDTH = 9.0
"""Of the picture, in inches."""

NAMES, STRIP, WORDS = (MARGIN, 2.1), (2.5, 3.5), (6.25, 2.55)
"""Where each column begins and how wide it is: a row's name, its marks, its numbers in words."""

FILLS: dict[Side, str] = {"better": PAPER, "worse": WORSE, "equal": MUTED, "none": MUTED}
EDGES: dict[Side, str] = {"better": BETTER, "worse": WORSE, "equal": MUTED, "none": MUTED}
LINES: dict[Side, str] = {"better": BETTER, "worse": WORSE, "equal": TEXT, "none": TEXT}

BAND = "#e4e4e4"

_ABOVE, _BELOW = 0.06, 0.08
"""Between a row's edges and what is in it."""

_MARK_HEIGHT, _DOT_STEP, _COLUMN_HEIGHT = 0.2, 0.06, 0.3


def draw(picture: Picture, panels: Sequence[Panel], captions: Sequence[str]) -> None:
    """Draw panels below each other, each below its caption."""
    for place, (panel, caption) in enumerate(zip(panels, captions, strict=True), 1):
        for line in shortened(wrapped(caption, picture.width - 2 * MARGIN, bold=True)):
            picture.bottom += LINE
            picture.text(MARGIN, picture.bottom, line, bold=True)
        picture.bottom += 0.08
        _panel(picture, panel, str(place))
        picture.bottom += 0.15


def _panel(picture: Picture, panel: Panel, name: str) -> None:
    top, height = picture.bottom, max(map(_height, panel.strips), default=0.0)
    rows = [(strip, shortened(wrapped(strip.name, NAMES[1])), _words(strip)) for strip in panel.strips]
    tops = [top]
    for _, names, words in rows:
        tops.append(tops[-1] + max(height, LINE * len(names), LINE * len(words)) + _ABOVE + _BELOW)
    for number, (strip, row_top, row_bottom) in enumerate(zip(panel.strips, tops, tops[1:], strict=False), 1):
        if strip.band is not None:
            left, right = map(_x, strip.band)
            picture.areas([(left, row_top, right, row_bottom)], [BAND], "none", f"band-{name}-{number}")
    for tick in panel.ticks:
        picture.line((_x(tick.x), top), (_x(tick.x), tops[-1]), GRID, 0.8)
    if panel.zero is not None:
        picture.line((_x(panel.zero), top), (_x(panel.zero), tops[-1]), MUTED, 1.5)
    for number, ((strip, names, words), row_top) in enumerate(zip(rows, tops, strict=False), 1):
        picture.line((MARGIN, row_top), (picture.width - MARGIN, row_top), GRID, 0.5)
        _write(picture, NAMES[0], row_top, [(line, False) for line in names])
        _write(picture, WORDS[0], row_top, words)
        _columns(picture, strip.columns, panel.highest, row_top + _ABOVE + height, f"{name}-{number}")
        _marks(picture, strip, row_top + _ABOVE, height, f"{name}-{number}")
    picture.bottom = tops[-1]
    if panel.ticks:
        _ticks(picture, panel)


def _words(strip: Strip) -> list[tuple[str, bool]]:
    """Return a row's numbers and conclusion as lines, each with whether it is bold."""
    lines = [(line, False) for line in shortened(wrapped(strip.words, WORDS[1]))]
    return lines + [
        (line, True) for line in (wrapped(strip.conclusion, WORDS[1], bold=True) if strip.conclusion else ())
    ]


def _write(picture: Picture, left: float, top: float, lines: Sequence[tuple[str, bool]]) -> None:
    for number, (line, bold) in enumerate(lines, 1):
        picture.text(left, top + _ABOVE + number * LINE - 0.035, line, bold=bold)


def _x(percent: float) -> float:
    """Return where a place of an axis is in the picture."""
    return STRIP[0] + STRIP[1] * percent / 100


def _height(strip: Strip) -> float:
    levels = max((dot.level + 1 for dot in strip.dots), default=0)
    marks = _MARK_HEIGHT if strip.mark is not None else 0.0
    return marks + max(_DOT_STEP * levels + 0.04 if levels else 0.0, _COLUMN_HEIGHT if strip.columns else 0.0)


def _marks(picture: Picture, strip: Strip, top: float, height: float, name: str) -> None:
    middle = top + _MARK_HEIGHT / 2
    _dots(picture, strip.dots, top + height - _DOT_STEP / 2, name)
    if strip.line is not None:
        left, right = map(_x, strip.line)
        picture.line((left, middle), (right, middle), LINES[strip.side], 2.5, f"interval-{name}")
    if strip.mark is not None:
        is_hollow = strip.is_baseline or strip.line is None or strip.side == "better"
        fill, edge = PAPER if is_hollow else LINES[strip.side], LINES[strip.side]
        shape: Shape = "circle" if strip.is_baseline else "diamond"
        picture.marks([(_x(strip.mark), middle)], shape, f"mark-{name}", fill=fill, edge=edge)


def _columns(picture: Picture, columns: Sequence[Column], highest: int, bottom: float, name: str) -> None:
    tops = [bottom - _COLUMN_HEIGHT * each.times / highest for each in columns]
    corners = [(_x(each.x), top, _x(each.x + each.width), bottom) for each, top in zip(columns, tops, strict=True)]
    for side in dict.fromkeys(each.side for each in columns):
        own = [place for place, each in zip(corners, columns, strict=True) if each.side == side]
        picture.areas(own, [FILLS[side]] * len(own), EDGES[side], f"columns-{name}-{side}")


def _dots(picture: Picture, dots: Sequence[Dot], bottom: float, name: str) -> None:
    for side in dict.fromkeys(dot.side for dot in dots):
        places = [(_x(dot.x), bottom - _DOT_STEP * dot.level) for dot in dots if dot.side == side]
        picture.marks(places, "circle", f"dots-{name}-{side}", fill=FILLS[side], edge=EDGES[side], size=3.4)


def _ticks(picture: Picture, panel: Panel) -> None:
    """Write what stands below the axis: the ends whole, and between them as much as there is room for."""
    picture.bottom += LINE
    ends = [length(tick.text, size=SIZE - 1) for tick in panel.ticks if tick.x in {0.0, 100.0}]
    room = STRIP[1] - 2 * max(ends, default=0.0) - 0.2
    for tick in panel.ticks:
        if tick.x == 0:
            picture.text(_x(0), picture.bottom, tick.text, color=MUTED, size=SIZE - 1)
        elif tick.x == 100:  # noqa: PLR2004 - percent
            picture.text(_x(100), picture.bottom, tick.text, color=MUTED, size=SIZE - 1, align="right")
        else:
            text = fitted(tick.text, room, size=SIZE - 1)
            picture.text(_x(tick.x), picture.bottom, text, color=MUTED, size=SIZE - 1, align="center")
