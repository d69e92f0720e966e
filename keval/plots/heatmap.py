"""Samples by conditions: each sample's mean as a number in a cell, darker where it is higher."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from keval.exports._all_samples import GridColumn, SampleGrid, sample_grid
from keval.plots.captions import caption
from keval.plots.picture import LINE, MARGIN, MUTED, PAPER, SIZE, Picture, fitted, length, shortened, wrapped
from keval.readable import count, number
from keval.reports.model import Report

TITLE = "Mean of each sample"

FAILED = "×"
"""Stands beside a mean in which a failure of the agent counts."""

LIGHTEST, DARKEST = (232, 240, 247), (11, 98, 164)
"""Of the colours of the ends of a scale, red, green and blue."""

DARK_FROM = 0.84
"""The share of the scale from which on numbers are white: there both are as easy to read."""

MOST_FOR_NAMES = 2.6
MOST_FOR_HEADINGS = 1.8
_CELL, _GAP, _ROW = 0.62, 0.3, 0.2


@dataclass(frozen=True, slots=True)
class Block:
    """The columns of one metric, and where they begin."""

    metric: str
    columns: tuple[GridColumn, ...]
    left: float

    def x(self, place: int) -> float:
        """Return where a column begins."""
        return self.left + place * _CELL


def width(report: Report) -> float:
    """Return how wide the picture has to be."""
    grid = sample_grid(report)
    if grid is None:
        return 0.0
    *_, last = _blocks(grid)
    return last.x(len(last.columns)) + MARGIN


def draw(report: Report, picture: Picture) -> list[str]:
    """Draw a row for each sample and return the key; none where no sample has a mean."""
    grid = sample_grid(report)
    if grid is None or not grid.samples:
        return []
    blocks = list(_blocks(grid))
    for line in wrapped(caption(report, TITLE, _scales(grid)), picture.width - 2 * MARGIN, bold=True):
        picture.bottom += LINE
        picture.text(MARGIN, picture.bottom, line, bold=True)
    _headings(picture, blocks)
    for row, sample_id in enumerate(grid.samples):
        y = picture.bottom + row * _ROW + _ROW - 0.055
        picture.text(MARGIN, y, fitted(sample_id, MOST_FOR_NAMES, size=SIZE - 1), size=SIZE - 1)
    for place, block in enumerate(blocks, 1):
        _cells(picture, block, grid.samples, str(place))
    picture.bottom += len(grid.samples) * _ROW + 0.1
    return [*_key(grid), *_long_names(blocks)]


def _blocks(grid: SampleGrid) -> Iterator[Block]:
    names = max(length(fitted(name, MOST_FOR_NAMES, size=SIZE - 1), size=SIZE - 1) for name in grid.samples or ("",))
    left = MARGIN + names + 0.15
    for _, found in groupby(grid.columns, key=lambda column: (column.table.judge_id, column.table.metric)):
        columns = tuple(found)
        yield Block(columns[0].metric, columns, left)
        left += len(columns) * _CELL + _GAP


def _scales(grid: SampleGrid) -> str:
    """Return what the colours mean: the scale of all metrics, or that each has its own."""
    scales = dict.fromkeys(f"{column.table.min:g} (light) to {column.table.max:g} (dark)" for column in grid.columns)
    return (
        next(iter(scales)) if len(scales) == 1 else "light to dark is the lowest to the highest of each metric's scale"
    )


def _headings(picture: Picture, blocks: Sequence[Block]) -> None:
    """Write the metrics, and below them the conditions, upwards."""
    metrics = [
        shortened(wrapped(block.metric, len(block.columns) * _CELL + _GAP - 0.1, size=SIZE - 1)) for block in blocks
    ]
    picture.bottom += 0.1
    for block, lines in zip(blocks, metrics, strict=True):
        for line_number, line in enumerate(lines, 1):
            picture.text(block.left, picture.bottom + line_number * LINE, line, size=SIZE - 1)
    names = _short_names(blocks)
    picture.bottom += LINE * max(map(len, metrics)) + 0.1
    picture.bottom += max(length(name, size=SIZE - 1) for name in names.values()) + 0.05
    for block in blocks:
        for place, column in enumerate(block.columns):
            x = block.x(place) + _CELL / 2 + 0.04
            picture.text(x, picture.bottom - 0.05, names[column.condition], color=MUTED, size=SIZE - 1, upwards=True)


def _short_names(blocks: Sequence[Block]) -> dict[str, str]:
    """Return what the conditions are called above their columns; long names that look alike then are numbered."""
    names = list(dict.fromkeys(column.condition for block in blocks for column in block.columns))
    short = [fitted(name, MOST_FOR_HEADINGS, size=SIZE - 1) for name in names]
    if len(set(short)) < len(short):
        short = [fitted(f"{place}: {name}", MOST_FOR_HEADINGS, size=SIZE - 1) for place, name in enumerate(names, 1)]
    return dict(zip(names, short, strict=True))


def _long_names(blocks: Sequence[Block]) -> Iterator[str]:
    for place, (name, short) in enumerate(_short_names(blocks).items(), 1):
        if short.startswith(f"{place}: "):
            yield f"{place}: {name}"


def _cells(picture: Picture, block: Block, samples: Sequence[str], name: str) -> None:
    corners, fills = [], []
    for place, column in enumerate(block.columns):
        for row, sample_id in enumerate(samples):
            left, top = block.x(place), picture.bottom + row * _ROW
            corners.append((left, top, left + _CELL, top + _ROW))
            fills.append(fill(column, sample_id))
    picture.areas(corners, fills, PAPER, f"cells-{name}")
    for place, column in enumerate(block.columns):
        for row, sample_id in enumerate(samples):
            if sample_id in column.means:
                x, y = block.x(place) + _CELL / 2, picture.bottom + row * _ROW + _ROW - 0.055
                color = PAPER if _share(column, sample_id) >= DARK_FROM else "#000000"
                picture.text(x, y, text_of(column, sample_id), color=color, size=SIZE - 2, align="center")


def text_of(column: GridColumn, sample_id: str) -> str:
    """Return what stands in a cell: the mean, as the page has it, and whether a failure counts in it."""
    shown = number(column.means.get(sample_id))
    return f"{shown} {FAILED}" if sample_id in column.failed else shown


def _share(column: GridColumn, sample_id: str) -> float:
    scale = column.table.max - column.table.min
    return min(max((column.means[sample_id] - column.table.min) / scale, 0.0), 1.0) if scale > 0 else 0.0


def fill(column: GridColumn, sample_id: str) -> str:
    """Return the colour of a cell: that of the mean on the scale, or of the paper."""
    if sample_id not in column.means:
        return PAPER
    share = _share(column, sample_id)
    mixed = (round(light + share * (dark - light)) for light, dark in zip(LIGHTEST, DARKEST, strict=True))
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def _key(grid: SampleGrid) -> Iterator[str]:
    yield "Rows: samples, those first that got worst against the baseline."
    if any(column.failed.intersection(grid.samples) for column in grid.columns):
        yield f"{FAILED}: the agent failed an answer, which counts in the mean as the worst score."
    if any(sample_id not in column.means for column in grid.columns for sample_id in grid.samples):
        yield "Empty: not measured, or the metric does not apply."
    if grid.left_out:
        yield f'The other {count(grid.left_out)} samples are left out: keval sql LOG "FROM sample_scores"'
